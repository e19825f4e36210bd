"""Images of other engines, shared memory in bytes, devices with a bare comma, and shells without a text."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

RUN = "docker run --gpus all --ipc=host "
SGL = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code"
VLLM = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code"
IMAGE = "lmsysorg/sglang:v0.5.9"
WORKER = "nvcr.io/nvidia/ai-dynamo/sglang-runtime:0.8.0"
LISTED = '{"command": ["bash", "-c", "python3", "-m", "sglang.launch_server"]}'


def told(text: str, words: str) -> bool:
    return any(words in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{RUN}{IMAGE} {VLLM}", True),
        (f"{RUN}lmsysorg/sglang:v0.4.3 {VLLM}", False),
        (f"{RUN}lmsysorg/sglang:v0.5.9-rocm700-mi35x {VLLM}", False),
        (f"{RUN}{IMAGE} bash -c 'pip install vllm==0.11.0 && {VLLM}'", False),
        (f"{RUN}{IMAGE} {SGL}", False),
        (f"{RUN}--entrypoint python3 vllm/vllm-openai:v0.11.0 {SGL.removeprefix('python3 ')}", True),
        (f"{RUN}{WORKER} python3 -m dynamo.vllm --model moonshotai/Kimi-K2.5", True),
        (f"{RUN}{WORKER} python3 -m dynamo.sglang --model-path moonshotai/Kimi-K2.5", False),
        (f"{RUN}registry.example/sglang:1 {VLLM}", False),
    ],
)
def test_image_of_another_engine(text: str, *, expected: bool) -> None:
    assert told(text, "the program is not found") == expected


@pytest.mark.parametrize(
    ("option", "words", "expected"),
    [
        ("--shm-size 32", "without a unit", True),
        ("--shm-size=34359738368", "without a unit", False),
        ("--shm-size 32g", "without a unit", False),
        ("--shm-size 32 --ipc=host", "without a unit", False),
        ("--shm-size 32GiBs", "not a size as Docker", True),
        ("--shm-size 32GB", "not a size as Docker", False),
        ("--shm-size $SIZE", "not a size as Docker", False),
    ],
)
def test_shared_memory(option: str, words: str, *, expected: bool) -> None:
    assert told(f"docker run --gpus all {option} {IMAGE} {SGL}", words) == expected


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("docker run --gpus device=0,1,2,3,4,5,6,7", True),
        ("""docker run --gpus '"device=0,1,2,3,4,5,6,7"'""", False),
        ("docker run --gpus device=0", False),
        ("podman run --gpus device=0,1,2,3,4,5,6,7", False),
    ],
)
def test_devices_with_a_comma(start: str, *, expected: bool) -> None:
    assert told(f"{start} --ipc=host {IMAGE} {SGL}", "Docker parts this") == expected


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        (f"{RUN}{IMAGE} sh {SGL}", "without -c reads", True),
        (f"{RUN}{IMAGE} bash '{SGL}'", "without -c reads", True),
        (f"{RUN}{IMAGE} bash -c '{SGL}'", "without -c reads", False),
        (f"{RUN}{IMAGE} bash start.sh", "without -c reads", False),
        (f"{RUN}{IMAGE} bash -c {SGL}", "the one text behind -c", True),
        (f"{RUN}{IMAGE} bash -c '{SGL}'", "the one text behind -c", False),
        (f'{RUN}{IMAGE} bash -lc "{SGL}"', "the one text behind -c", False),
        (f"{SGL}\n# {LISTED}", "the one text behind -c", False),
        (f"{LISTED}\n{SGL}", "the one text behind -c", True),
    ],
)
def test_shells(text: str, words: str, *, expected: bool) -> None:
    assert told(text, words) == expected


@pytest.mark.parametrize("written", ["--gpus device=0,1", "--gpus=device=0,1"])
def test_the_corrected_command_has_both_kinds_of_quotes(written: str) -> None:
    text = f"docker run {written} --ipc=host vllm/vllm-openai:v0.20.0 --model moonshotai/Kimi-VL-A3B-Instruct -tp 2"
    words = [word for judged in ask(text) for line in judged.corrected for word in line.argv]
    assert next(word for word in words if "device=" in word).endswith('"device=0,1"')


def test_one_container_with_too_few_devices_needs_no_cluster() -> None:
    text = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: k2}
spec:
  replicas: 1
  selector: {matchLabels: {app: k2}}
  template:
    metadata: {labels: {app: k2}}
    spec:
      containers:
      - name: server
        image: vllm/vllm-openai:v0.20.0
        args: [--model, moonshotai/Kimi-K2-Thinking, --tensor-parallel-size, '8']
        resources: {limits: {nvidia.com/gpu: '4'}}
"""
    judged = ask(text)
    assert any("the containers get" in finding.message for each in judged for finding in each.findings)
    words = [word for each in judged for line in each.corrected for word in line.argv]
    assert "ray" not in words
