"""`take another release`: where none is named and the newest came later, it is a fault of an older release."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8"


@pytest.mark.parametrize(("version", "former"), [("", True), ("1.2.0rc2", False)])
def test_it_is_past(version: str, former: bool) -> None:
    judged = ask_one(SERVE, on="8xB200", version=version)
    (remark,) = [each for each in judged.remarks if "much slower in 1.2.0rc2" in each.finding.message]
    assert remark.of_former is former
