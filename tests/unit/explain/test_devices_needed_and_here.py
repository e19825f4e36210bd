"""Devices of a line of requirements beside those that a text says it runs on; processors with AVX-512."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, devices, found

K25 = (
    "```bash\npython -m sglang.launch_server --model moonshotai/Kimi-K2.5 --kt-weight-path /m --kt-cpuinfer 32 "
    "--kt-threadpool-count 2 --kt-num-gpu-experts 30 --kt-method RAWINT4 --tensor-parallel-size 2\n```\n"
)
NEEDS = "## Requirements\n\n- GPU: 48 GB (2x RTX 4090 or 1x H100)\n"


@pytest.mark.parametrize(
    "text",
    [
        f"## Current machine\n\n| **GPU** | 2x RTX PRO 6000 (96 GB each) |\n\n## Start\n\n{K25}\n{NEEDS}",
        f"{NEEDS}\n## Test system\n\n- GPUs: 2x RTX PRO 6000\n\n## Start\n\n{K25}",
        f"# Notes\n\nGPU: 2x RTX 4090 24 GB or better. Our machine has 2x RTX PRO 6000.\n\n## Start\n\n{K25}",
        f"## What you need\n\nat least 2x RTX 4090\n\n## Log\n\nWe run 2x RTX PRO 6000.\n\n## Start\n\n{K25}",
    ],
)
def test_what_is_there_goes_before_what_is_needed(text: str) -> None:
    assert devices(ask(text)[0]) == "2xRTX-PRO-6000"


def test_what_is_needed_is_taken_where_nothing_else_is_named() -> None:
    assert devices(ask(f"## Requirements\n\n- GPU: 2x RTX PRO 6000\n\n## Start\n\n{K25}")[0]) == "2xRTX-PRO-6000"


@pytest.mark.parametrize(
    ("processor", "has_it"),
    [
        ("AMD EPYC 9534 (AVX512)", True),
        ("2x EPYC 9755", True),
        ("2x Intel Xeon Platinum 8480+", True),
        ("Intel Xeon 6430, Sapphire Rapids", True),
        ("CPU with AVX512", False),
        ("AMD EPYC 7763", False),
        ("AMD EPYC 7262", False),
        ("Intel Xeon E5-2690 v4", False),
        ("Intel Xeon E5-4650", False),
    ],
)
def test_one_pool_is_not_asked_of_processors_with_avx_512(processor: str, has_it: bool) -> None:
    text = f"# Notes\n\nAn earlier host had no AVX512. Now: 2x RTX PRO 6000, {processor}.\n\n{K25}"
    assert found(text, "takes one thread pool") is not has_it
