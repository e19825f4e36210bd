"""Prompts above --kt-gpu-prefill-token-threshold are computed on the devices, where the experts of a layer need room.

The size is that of the model card: 384 experts of three matrices of 7168 by 2048, INT4 with two bytes of scale for 32.
"""

from __future__ import annotations

import re

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

START = (
    "python -m sglang.launch_server --model moonshotai/Kimi-K2-Thinking --kt-weight-path /d/kimi-k2-thinking"
    " --kt-cpuinfer 96 --kt-threadpool-count 2 --kt-num-gpu-experts 40 --kt-method RAWINT4 --trust-remote-code"
    " --mem-fraction-static 0.94 --tensor-parallel-size 2 --chunked-prefill-size 65536 --max-total-tokens 65536"
    " --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
)
LAYER_GIB = 384 * 3 * 7168 * 2048 * (0.5 + 2 / 32) / 2**30


def told(more: str) -> list[tuple[Severity, str]]:
    judged = ask_one(f"{START} {more}", "2xRTX4090-48G")
    return [(each.severity, each.message) for each in judged.findings if "layer are brought" in each.message]


def test_the_experts_of_one_layer_are_told() -> None:
    ((severity, message),) = told("--kt-gpu-prefill-token-threshold 400")
    assert severity is Severity.NOTE
    size = re.search(r"([\d.]+) GiB", message)
    assert size is not None
    assert abs(float(size[1]) - LAYER_GIB) < 0.1


def test_no_prompt_is_so_long() -> None:
    assert told("") == []
    assert told("--kt-gpu-prefill-token-threshold 300000") == []


def test_how_many_experts_stay_on_the_devices_is_not_proposed_where_room_is_needed_that_is_not_counted() -> None:
    def proposed(more: str) -> bool:
        judged = ask_one(f"{START} {more}", "2xRTX4090-48G")
        return any("--kt-num-gpu-experts" in str(better.edits) for better in judged.better)

    assert proposed("")
    assert not proposed("--kt-gpu-prefill-token-threshold 400")
