"""A fault of the executor with workers as processes is not told of a start whose workers are actors of Ray."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

FAULTS = ("V1 gives workers 180 seconds", "a step may take only 40 s", "a step of over 300 s")
SERVER = "pip install vllm==0.8.4\nvllm serve deepseek-ai/DeepSeek-R1 --tensor-parallel-size 8 --port 8123 {more}\n"


def told(text: str) -> list[str]:
    messages = [finding.message for judged in ask(text) for finding in judged.findings]
    return [fault for fault in FAULTS if any(fault in message for message in messages)]


@pytest.mark.parametrize("more", ["", "--distributed-executor-backend mp", "--enable-prefix-caching"])
def test_workers_that_are_processes(more: str) -> None:
    assert told(SERVER.format(more=more)) == list(FAULTS)


@pytest.mark.parametrize(
    "more",
    [
        "--distributed-executor-backend ray",
        "--distributed-executor-backend=ray --pipeline-parallel-size 2",
        "--distributed-executor-backend external_launcher",
    ],
)
def test_workers_of_another_executor(more: str) -> None:
    assert not told(SERVER.format(more=more))


def test_what_is_of_ray_is_still_told() -> None:
    judged = ask(SERVER.format(more="--distributed-executor-backend ray"))
    assert [finding for each in judged for finding in each.findings if "RayChannelTimeoutError" in finding.message]


TWO_NODES = """pip install vllm==0.8.4
{start}
vllm serve deepseek-ai/DeepSeek-R1 --tensor-parallel-size 8 --pipeline-parallel-size {stages} --port 8123
"""


def test_more_workers_than_a_machine_has_devices_are_actors_of_ray() -> None:
    assert not told(TWO_NODES.format(start="ray start --head --port 6379", stages=2))


@pytest.mark.parametrize(("start", "stages"), [("ray start --head --port 6379", 1), ("", 2)])
def test_workers_of_one_machine_or_of_a_text_without_ray(start: str, stages: int) -> None:
    assert told(TWO_NODES.format(start=start, stages=stages)) == list(FAULTS)


AITER = """pip install vllm==0.10.1
export VLLM_ROCM_USE_AITER=1 {more}
vllm serve openai/gpt-oss-120b --tensor-parallel-size 8 --port 8123
"""


@pytest.mark.parametrize(("more", "is_told"), [("", True), ("VLLM_ROCM_USE_AITER_MHA=0", False)])
def test_faults_of_a_backend_that_a_variable_switches_off(more: str, is_told: bool) -> None:
    (judged,) = ask(AITER.format(more=more), on="8xMI300X")
    assert any("has no sliding window" in each.message for each in judged.findings) is is_told
