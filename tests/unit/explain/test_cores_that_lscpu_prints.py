"""Threads for the experts against the cores that lscpu's two lines make together."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = (
    "python -m sglang.launch_server --model /m/Kimi-K2-Thinking --kt-weight-path /m/Kimi-K2-Thinking"
    " --trust-remote-code --kt-method RAWINT4 --kt-cpuinfer {} --kt-threadpool-count 2 --kt-num-gpu-experts 30"
    " --tensor-parallel-size 4\n"
)
LSCPU = "CPU(s):              128\nThread(s) per core:  {}\nSocket(s):           2\nNUMA node(s):        2\n\n"


def too_many(text: str) -> list[str]:
    return [each.remedy for one in ask(text) for each in one.findings if "threads above their number" in each.message]


@pytest.mark.parametrize("lscpu", [LSCPU.format(2), LSCPU.format(2).replace("CPU(s): ", "CPU(s)  : ")])
def test_hyperthreads_are_not_cores(lscpu: str) -> None:
    assert too_many(lscpu + START.format(128)) == ["write --kt-cpuinfer 62"]


@pytest.mark.parametrize(
    "text",
    [
        LSCPU.format(2) + START.format(64),
        LSCPU.format(1) + START.format(128),
        "CPU(s):              128\n\n" + START.format(128),
        "Thread(s) per core:  2\n\n" + START.format(128),
        LSCPU.format(2) + "NUMA node0 CPU(s):   0-63\n\n" + START.format(64),
    ],
)
def test_nothing_is_said_of_as_many_as_there_are(text: str) -> None:
    assert too_many(text) == []
