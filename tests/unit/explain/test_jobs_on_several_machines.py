"""Jobs of SkyPilot and dstack: what each of several machines starts for itself, and the disk for the download."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SKY = """\
resources:
  accelerators: H200:8
  {more}
num_nodes: 2
run: |
  {line}
"""
DSTACK = """\
type: task
nodes: 2
commands:
  - {line}
resources:
  gpu: H200:8
  {more}
"""
SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp {} --trust-remote-code"
VLLM = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size {} --trust-remote-code"
JOINED = "--nnodes 2 --node-rank $SKYPILOT_NODE_RANK --dist-init-addr $HEAD:5000"


def said(text: str, words: str) -> list[tuple[Severity, str]]:
    found = [finding for judged in ask(text) for finding in judged.findings]
    return [(each.severity, each.remedy) for each in found if words in each.message]


@pytest.mark.parametrize("form", [SKY, DSTACK])
@pytest.mark.parametrize("line", [SGLANG.format(16), VLLM.format(16)])
def test_nothing_joins_the_machines(form: str, line: str) -> None:
    ((severity, remedy),) = said(form.format(line=line, more="ports: 8000"), "nothing joins the machines")
    assert severity is Severity.WARNING
    assert remedy.startswith("add --nnodes 2")


@pytest.mark.parametrize(
    "line",
    [
        f"{SGLANG.format(16)} {JOINED}",
        f"{SGLANG.format(16)} $EXTRA",
        SGLANG.format(8),
        f"ray start --head\n  {VLLM.format(16)} --distributed-executor-backend ray",
        f"{VLLM.format(16)} --distributed-executor-backend ray",
    ],
)
def test_what_joins_them_or_fits_one_is_left(line: str) -> None:
    assert said(SKY.format(line=line, more="ports: 8000"), "nothing joins the machines") == []


def test_a_launcher_with_keys_of_its_own_is_left() -> None:
    text = (
        "name: tp8\nmodel:\n  path: kimi-k2.5-nvfp4\n  container: vllm/vllm-openai:v0.20.0\n"
        "resources:\n  gpu_type: gb200\n  gpus_per_node: 4\n  agg_nodes: 2\n  agg_workers: 1\n"
        "backend:\n  type: vllm\n  vllm_config:\n    aggregated:\n"
        "      tensor-parallel-size: 8\n      trust-remote-code: true\n"
    )
    assert said(text, "nothing joins the machines") == []


@pytest.mark.parametrize(
    ("form", "more", "remedy"),
    [(SKY, "disk_size: 256", "write disk_size: 1198 or more"), (DSTACK, "disk: 200GB", "write disk: 1198GB or more")],
)
def test_the_weights_do_not_fit_the_disk(form: str, more: str, remedy: str) -> None:
    text = form.format(line=f"{SGLANG.format(16)} {JOINED}", more=more)
    assert said(text, "for the download") == [(Severity.WARNING, remedy)]


@pytest.mark.parametrize(
    ("form", "more"),
    [
        (SKY, "disk_size: 1500"),
        (SKY, "disk_size: 256\n  infra: k8s"),
        (SKY, "disk_size: 256\nfile_mounts:\n  /models: s3://weights"),
        (DSTACK, "disk: 200GB..\n"),
        (DSTACK, "disk: 2TB"),
        (DSTACK, "disk: 200GB\nvolumes:\n  - weights:/root/.cache/huggingface"),
    ],
)
def test_room_enough_or_elsewhere_is_left(form: str, more: str) -> None:
    assert said(form.format(line=f"{SGLANG.format(16)} {JOINED}", more=more), "for the download") == []


def test_the_volume_that_a_chart_asks_for() -> None:
    text = (
        "servingEngineSpec:\n  modelSpec:\n  - name: kimi\n    repository: vllm/vllm-openai\n    tag: v0.12.0\n"
        "    modelURL: moonshotai/Kimi-K2-Thinking\n    requestGPU: 8\n    pvcStorage: 200Gi\n"
        "    vllmConfig:\n      tensorParallelSize: 8\n      extraArgs: [--trust-remote-code]\n"
    )
    assert said(text, "for the download") == [(Severity.WARNING, "write pvcStorage: 692Gi or more")]
    assert said(text.replace("200Gi", "800Gi"), "for the download") == []
    of_no_quota = text.replace("    vllmConfig", "    storageClass: local-path\n    vllmConfig")
    assert said(of_no_quota, "for the download") == []
