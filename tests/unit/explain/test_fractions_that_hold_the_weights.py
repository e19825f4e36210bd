"""A smaller memory fraction is no remedy where the weights have no room in it."""

from __future__ import annotations

import re

import pytest

from tests.unit.explain.judging import ask

START = (
    "python3 -m sglang.launch_server --model nvidia/Kimi-K2.5-NVFP4 --tp 8 --dp-size 8 --enable-dp-attention"
    " --quantization modelopt_fp4 --mem-fraction-static {} --context-length 16384 --max-running-requests 32\n"
)


def remedy(fraction: float) -> str:
    (judged,) = ask(START.format(fraction), "8xRTX-PRO-6000", "0.5.10.post1")
    told = [each for each in judged.findings if "left outside" in each.message]
    return told[0].remedy if told else ""


@pytest.mark.parametrize("fraction", [0.96, 0.97, 0.98])
def test_what_is_written_has_room(fraction: float) -> None:
    said = remedy(fraction)
    assert said
    lower = re.search(r"--mem-fraction-static (0\.\d+)", said)
    if lower is None:
        assert "--chunked-prefill-size" in said
        return
    (judged,) = ask(START.format(lower[1]), "8xRTX-PRO-6000", "0.5.10.post1")
    assert judged.fits
