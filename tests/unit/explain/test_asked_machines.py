"""What a job asks its scheduler for, against what its command starts; and Makefiles, whose recipes start servers."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SKY = "resources:\n  accelerators: H200:{devices}\n  ports: {port}\nnum_nodes: {nodes}\nrun: |\n  {command}\n"
SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code"
MANY = (
    "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --nnodes 2 --node-rank {rank} "
    "--dist-init-addr $HEAD:5000"
)
MODAL = """import modal, subprocess
app = modal.App("k2")
@app.function(gpu="H200:{devices}")
@modal.web_server(port={port})
def serve():
    subprocess.Popen(["vllm", "serve", "moonshotai/Kimi-K2.5", "--tensor-parallel-size", "8"])
"""
DSTACK = "type: service\ncommands:\n  - {command}\nport: {port}\nresources:\n  gpu: H200:{devices}\n"
PREDICTOR = """apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {{name: k2}}
spec:
  predictor:
    model:
      modelFormat: {{name: huggingface}}
      args: [--model_name=k2, --model_id=moonshotai/Kimi-K2.5, --tensor-parallel-size=8]
      resources: {{limits: {{nvidia.com/gpu: "{devices}"}}}}
"""
MAKEFILE = """MODEL ?= moonshotai/Kimi-K2.5
IMAGE := vllm/vllm-openai:$(TAG)
SIZE = 12

.PHONY: serve
serve: pull
\t@echo $$HOME
\t@vllm serve $(MODEL) \\
\t  --tensor-parallel-size $(SIZE) \\
\t  --trust-remote-code
"""


def told(text: str, words: str) -> list[str]:
    return [finding.where for judged in ask(text) for finding in judged.findings if words in finding.message]


@pytest.mark.parametrize(("devices", "expected"), [(4, ["--tensor-parallel-size"]), (8, [])])
@pytest.mark.parametrize(
    "text",
    [
        SKY.replace("{port}", "8000").replace("{nodes}", "1").replace("{command}", SERVE),
        MODAL.replace("{port}", "8000"),
        DSTACK.replace("{port}", "8000").replace("{command}", SERVE),
        PREDICTOR,
    ],
)
def test_devices_of_a_job(text: str, devices: int, expected: list[str]) -> None:
    words = "the last ranks find none"
    assert (
        told(text.format(devices=devices) if "{{" in text else text.replace("{devices}", str(devices)), words)
        == expected
    )


@pytest.mark.parametrize(("port", "count"), [(8080, 1), (8000, 0)])
@pytest.mark.parametrize(
    "text",
    [
        SKY.replace("{devices}", "8").replace("{nodes}", "1").replace("{command}", SERVE),
        MODAL.replace("{devices}", "8"),
        DSTACK.replace("{devices}", "8").replace("{command}", SERVE),
    ],
)
def test_the_port_of_a_job(text: str, port: int, count: int) -> None:
    assert len(told(text.replace("{port}", str(port)), "is opened, and")) == count


@pytest.mark.parametrize(("rank", "expected"), [("0", ["--node-rank"]), ("$SKYPILOT_NODE_RANK", [])])
def test_the_rank_of_a_job(rank: str, expected: list[str]) -> None:
    text = SKY.format(devices=8, port=8000, nodes=2, command=MANY.format(rank=rank))
    assert told(text, "all have rank") == expected


def test_a_makefile() -> None:
    (one,) = ask(MAKEFILE)
    assert one.layout is not None
    assert (one.layout.tp, one.checkpoint.name if one.checkpoint else "") == (12, "moonshotai/Kimi-K2.5")
    assert not [finding for finding in one.findings if "takes no such argument" in finding.message]


def test_yaml_with_tabs_is_no_makefile() -> None:
    text = "services:\n  k2:\n    command: vllm serve a/b --tensor-parallel-size 2\n"
    assert [one.layout.tp for one in ask(text) if one.layout] == [2]
