"""The devices that a variable leaves to see, against ranks and containers."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code"
SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --trust-remote-code"
COMPOSE = """services:
  server:
    image: vllm/vllm-openai:v0.20.0
    command: --model Qwen/Qwen3-8B --tensor-parallel-size 2
    ipc: host
    environment:
      - CUDA_VISIBLE_DEVICES={seen}
    deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, device_ids: [{ids}], capabilities: [gpu]}}]}}}}}}
"""


def told(text: str, words: str) -> list[tuple[str, bool]]:
    findings = [finding for judged in ask(text) for finding in judged.findings if words in finding.message]
    return [(finding.where, finding.severity is Severity.ERROR) for finding in findings]


@pytest.mark.parametrize(
    ("text", "where", "is_error"),
    [
        (f"CUDA_VISIBLE_DEVICES=0,1,2,3 {SERVE} -tp 8\n", "CUDA_VISIBLE_DEVICES", False),
        (f"pip install vllm==0.20.0\nCUDA_VISIBLE_DEVICES=0,1,2,3 {SERVE} -tp 8\n", "CUDA_VISIBLE_DEVICES", True),
        (f"export HIP_VISIBLE_DEVICES=0,1,2,3\n{SGLANG} --tp-size 8\n", "HIP_VISIBLE_DEVICES", True),
        (f"export ASCEND_RT_VISIBLE_DEVICES=0,1\n{SERVE} -tp 2 -dp 2\n", "ASCEND_RT_VISIBLE_DEVICES", False),
        (f"# A\n\n```bash\nCUDA_VISIBLE_DEVICES=0 {SERVE} -tp 8\n```\n", "CUDA_VISIBLE_DEVICES", False),
        (f"CUDA_VISIBLE_DEVICES=0,1,2,3 {SERVE} -tp 8 -dp 2 --nnodes 2 --node-rank 0 --master-addr a\n", "CUDA", False),
    ],
)
def test_fewer_devices_than_ranks(text: str, where: str, is_error: bool) -> None:
    ((name, error),) = told(text, "the process sees")
    assert name.startswith(where)
    assert error is is_error


@pytest.mark.parametrize(
    "text",
    [
        f"CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 {SERVE} -tp 8\n",
        f"CUDA_VISIBLE_DEVICES=$GPUS {SERVE} -tp 8\n",
        f"CUDA_VISIBLE_DEVICES=0,1,2,3 {SERVE} -tp 8 --distributed-executor-backend ray\n",
        f"ray start --head\nCUDA_VISIBLE_DEVICES=0,1,2,3 {SERVE} -tp 8\n",
        f"CUDA_VISIBLE_DEVICES=0,1,2,3 {SGLANG} --tp-size 8 --nnodes 2 --node-rank 0 --dist-init-addr a:1\n",
        f"CUDA_VISIBLE_DEVICES=0 {SERVE} -tp 1 -dp 8 --data-parallel-rank 3 --data-parallel-address a\n",
        f"CUDA_VISIBLE_DEVICES=0,1,2,3 {SERVE} -tp 1 -dp 8 --data-parallel-size-local 4 --data-parallel-address a\n",
        "CUDA_VISIBLE_DEVICES=0 llama-server -m x.gguf -ngl 99\n",
        f"CUDA_VISIBLE_DEVICES=MIG-0ab1 {SERVE} -tp 2\n",
        f"CUDA_VISIBLE_DEVICES=0,1 {SERVE} -tp $TP\n",
        "CUDA_VISIBLE_DEVICES=0,1,2,3 docker run --gpus all --ipc host vllm/vllm-openai:v0.20.0 --model a/b -tp 8\n",
    ],
)
def test_as_many_devices_or_unknown(text: str) -> None:
    assert told(text, "the process sees") == []


@pytest.mark.parametrize(
    "text",
    [
        COMPOSE.format(seen="2,3", ids="'2', '3'"),
        COMPOSE.format(seen="1,2", ids="'1', '2'"),
        "docker run --gpus '\"device=2,3\"' -e CUDA_VISIBLE_DEVICES=2,3 --ipc host vllm/vllm-openai:v0.20.0 "
        "--model Qwen/Qwen3-8B -tp 2\n",
        "docker run --runtime nvidia -e NVIDIA_VISIBLE_DEVICES=4,5 -e CUDA_VISIBLE_DEVICES=4,5 --ipc host "
        "vllm/vllm-openai:v0.20.0 --model Qwen/Qwen3-8B -tp 2\n",
    ],
)
def test_devices_that_a_container_numbers_anew(text: str) -> None:
    assert told(text, "inside, whatever") == [("CUDA_VISIBLE_DEVICES", False)]


@pytest.mark.parametrize(
    "text",
    [
        COMPOSE.format(seen="0,1", ids="'2', '3'"),
        COMPOSE.format(seen="2,3", ids="'2', '3'").replace("ipc: host", "privileged: true"),
        COMPOSE.format(seen="2,3", ids="'2', '3'").replace("device_ids: ['2', '3']", "count: all"),
        "docker run --gpus all -e CUDA_VISIBLE_DEVICES=2,3 --ipc host vllm/vllm-openai:v0.20.0 --model a/b -tp 2\n",
        f"CUDA_VISIBLE_DEVICES=2,3 {SERVE} -tp 2\n",
    ],
)
def test_numbers_that_the_container_has(text: str) -> None:
    assert told(text, "inside, whatever") == []
