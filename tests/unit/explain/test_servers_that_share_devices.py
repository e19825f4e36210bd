"""Two servers on the same devices share their memory: no proposal gives one of them what the other takes."""

from __future__ import annotations

import itertools

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask

BIG = "--trust-remote-code --enable-expert-parallel --data-parallel-size 8 --gpu-memory-utilization 0.75"
SMALL = "--tensor-parallel-size 8 --gpu-memory-utilization 0.20 --port 8004"
KIMI, OTHER = "moonshotai/Kimi-K2.6", "Qwen/Qwen3-8B"
ALL = "count: all"


def _service(name: str, options: str, devices: str) -> str:
    reserved = (
        f"deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, {devices}, capabilities: [gpu]}}]}}}}}}"
    )
    return f"  {name}:\n    image: vllm/vllm-openai:v0.19.0\n    command: {options}\n    {reserved}\n"


def _compose(first: str, second: str) -> str:
    big, small = f"--model {KIMI} {BIG}", f"--model {OTHER} {SMALL}"
    return f"services:\n{_service('big', big, first)}{_service('small', small, second)}"


SCRIPT = f"vllm serve {KIMI} {BIG} &\nvllm serve {OTHER} {SMALL} &\n"
RUNS = (
    f"docker run -d --gpus all vllm/vllm-openai:v0.19.0 --model {KIMI} {BIG}\n"
    f"docker run -d --gpus all vllm/vllm-openai:v0.19.0 --model {OTHER} {SMALL}\n"
)
LISTS = (
    f"# Two models on one server\n\n## Kimi\n\n```\nvllm serve {KIMI} {BIG}\n```\n\n## Small\n\n"
    f"```\nvllm serve {OTHER} {SMALL}\n```\n"
)
TOGETHER = (_compose(ALL, ALL), SCRIPT, RUNS, LISTS)
APART = (
    f"CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 vllm serve {KIMI} {BIG} &\n"
    f"CUDA_VISIBLE_DEVICES=8,9,10,11,12,13,14,15 vllm serve {OTHER} {SMALL} &\n",
    f"vllm serve {KIMI} {BIG} &\nkill %1\nvllm serve {OTHER} {SMALL} &\n",
    f"vllm serve {KIMI} {BIG}\nvllm serve {OTHER} {SMALL}\n",
    LISTS.replace(OTHER, KIMI),
    f"vllm serve {KIMI} {BIG}\n",
)


def _shares(judged: Judged) -> set[float]:
    """All that the proposals give to the server."""
    lines = [*judged.corrected, *(line for better in judged.better for line in better.lines)]
    words = [word for line in lines for word in line.argv]
    return {float(value) for flag, value in itertools.pairwise(words) if flag == "--gpu-memory-utilization"}


def _note(judged: Judged) -> list[str]:
    return [each.message for each in judged.findings if "together" in each.message and "of the memory" in each.message]


@pytest.mark.parametrize("text", TOGETHER)
def test_what_the_other_takes_is_left_to_it(text: str) -> None:
    big, small = ask(text, on="8xH200")
    assert _shares(big)
    assert max(_shares(big)) <= 0.80
    for judged in (big, small):
        (message,) = _note(judged)
        assert "0.95" in message


@pytest.mark.parametrize("text", APART)
def test_a_server_that_is_alone_may_have_more(text: str) -> None:
    big, *_ = ask(text, on="8xH200")
    assert max(_shares(big)) == 0.95
    assert not _note(big)


def test_lists_of_devices_of_a_compose_file() -> None:
    apart = _compose('device_ids: ["0","1"]', 'device_ids: ["2","3"]')
    shared = _compose('device_ids: ["0","1"]', 'device_ids: ["1","2"]')
    assert not any(map(_note, ask(apart, on="8xH200")))
    assert all(map(_note, ask(shared, on="8xH200")))


def test_services_of_two_profiles_may_be_alternatives() -> None:
    text = _compose(ALL, ALL).replace("  small:\n", '  small:\n    profiles: ["small"]\n')
    assert not any(map(_note, ask(text, on="8xH200")))
