"""A setting that holds no more than the command does is not called better."""

from __future__ import annotations

import re

import pytest

from tests.unit.explain.judging import ask_one

KT = (
    "python -m sglang.launch_server --model moonshotai/Kimi-K2-Thinking --kt-weight-path /d/cpu --kt-cpuinfer 56"
    " --kt-threadpool-count 2 --kt-num-gpu-experts {experts} --kt-method AMXINT4 --trust-remote-code"
    " --mem-fraction-static 0.98 --max-total-tokens {tokens} --tensor-parallel-size 8 --tool-call-parser kimi_k2"
    " --reasoning-parser kimi_k2"
)


@pytest.mark.parametrize(
    ("experts", "tokens", "proposed"),
    [
        (200, 37000, False),  # the pool is told how many, and has them
        (200, 90000, True),  # with fewer experts on the devices it has more than now
    ],
)
def test_experts_are_taken_from_the_devices_only_for_more_tokens(experts: int, tokens: int, proposed: bool) -> None:
    judged = ask_one(KT.format(experts=experts, tokens=tokens), "8xL20")
    fewer = [better.why for better in judged.better if "experts of each layer" in better.why]
    assert bool(fewer) is proposed
    for why in fewer:
        more, before = re.findall(r"([\d,]+) tokens of KV cache(?: instead of ([\d,]+))", why)[0]
        assert int(more.replace(",", "")) > int(before.replace(",", ""))
