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
