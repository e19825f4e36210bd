"""The server of 2025 chose its kernels by a file of rules, its successor by --kt-method: what is meant is not lost.

https://github.com/kvcache-ai/ktransformers, kt-kernel/README.md: AMXINT4 and AMXINT8 for Intel's processors with AMX.
"""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

START = "python ktransformers/server/main.py --model_path /models/K2 --gguf_path /models/K2-GGUF --cache_lens 30000"
RULES = "ktransformers/optimize/optimize_rules"


def remedy(more: str) -> str:
    (judged,) = ask(f"{START} {more}")
    (told,) = [each.remedy for each in judged.findings if each.code is Code.REMOVED_FLAG]
    return told


def test_rules_for_amx() -> None:
    told = remedy(f"--optimize_config_path {RULES}/DeepSeek-V3-Chat-amx.yaml")
    assert "AMXINT4" in told
    assert "LLAMAFILE" in told


@pytest.mark.parametrize("more", ["", f"--optimize_config_path {RULES}/DeepSeek-V3-Chat-serve.yaml"])
def test_other_rules(more: str) -> None:
    assert "AMXINT4" not in remedy(more)
