"""Devices that a task asks for, those whose number is open, drafts beside a model, and tools that start nothing."""

from __future__ import annotations

import pytest

from moonpad.cli.explain import _next
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask, only_server

TASK = """resources:
  accelerators: {H100:8, A100-80GB:8}
run: |
  vllm serve moonshotai/Kimi-K2.6 -tp $SKYPILOT_NUM_GPUS_PER_NODE"""


@pytest.mark.parametrize("text", [TASK, f"{TASK}\n", f"```yaml\n{TASK}\n```\n", f"A task.\n\n```yaml\n{TASK}\n\n```\n"])
def test_a_task_in_a_page_asks_for_its_machines(text: str) -> None:
    judged = only_server(text)
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH100"


def test_the_kind_is_kept_where_the_number_is_open() -> None:
    text = "Kimi-K2.5 FP4 on MI355X\n```bash\nvllm serve $MODEL --tensor-parallel-size=$TP --trust-remote-code\n```\n"
    assert _next(ask(text), read_script(text)).partition("  #")[0].endswith("xMI355X")


@pytest.mark.parametrize(
    "draft", ["Inferact/Kimi-K3-DSpark", "x/kimi-k3-eagle3.1-mla", "y/Kimi-K3-MTP", "p/kimik3_gemm.csv"]
)
def test_a_draft_is_no_other_model(draft: str) -> None:
    text = f"Kimi-K3 on MI355X; MODEL_PATH not set, DRAFT_MODEL_PATH={draft}\n"
    judged = only_server(f'{text}```bash\nvllm serve "$MODEL_PATH" --tensor-parallel-size 8\n```\n')
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "moonshotai/Kimi-K3"


def test_an_unknown_repository_of_the_family_is_another_model() -> None:
    judged = only_server("Kimi-K3, x/Kimi-K3-Small\n```bash\nvllm serve $MODEL_PATH --tensor-parallel-size 8\n```\n")
    assert judged.checkpoint is None


@pytest.mark.parametrize(("words", "count"), [("status", 0), ("stop", 0), ("start --head", 1)])
def test_ray_starts_where_it_is_told_to(words: str, count: int) -> None:
    text = f"until ray {words}; do sleep 5; done\nvllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8\n"
    assert sum(command.program == "ray" for command in read_script(text).commands) == count


@pytest.mark.parametrize(("resource", "told"), [("google.com/tpu", 0), ("example.com/other", 1)])
def test_no_option_of_docker_names_a_tpu(resource: str, told: int) -> None:
    text = f"""apiVersion: v1
kind: Pod
metadata: {{name: k}}
spec:
  containers:
  - name: k
    image: vllm/vllm-tpu:latest
    securityContext: {{privileged: true}}
    resources: {{limits: {{"{resource}": "4"}}}}
    command: ["vllm", "serve", "moonshotai/Kimi-K2.6", "--tensor-parallel-size", "4"]
"""
    findings = [finding for judged in ask(text) for finding in judged.findings]
    assert sum("--gpus all" in finding.remedy for finding in findings) == told


def test_a_context_at_the_edge_says_what_the_worse_end_holds() -> None:
    text = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code\n"
    (judged,) = ask(text, on="8xH100")
    assert judged.better
    for better in judged.better:
        context = int(dict(better.changes).get("max_model_len") or better.memory.context)
        assert ("worse end" in better.why) == (better.memory.max_context.low < context)
