"""Short names of options are one closing line, and no correction for their sake alone."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.report.explain_view import explain_view

SERVE = (
    "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking {tp} --trust-remote-code "
    "--tool-call-parser kimi_k2 --reasoning-parser kimi_k2 --host 0.0.0.0 {more}\n"
)


def shown(tp: str, more: str = "") -> str:
    script = read_script(f"# 8xH200\n{SERVE.format(tp=tp, more=more)}")
    return explain_view(judge(script, Question()), script, 120).plain


@pytest.mark.parametrize("tp", ["--tp 8", "--tp=8"])
def test_a_short_name_alone_is_no_correction(tp: str) -> None:
    text = shown(tp)
    assert "Corrected" not in text
    assert "--tp is short for --tp-size" in text


def test_beside_another_one_it_is_part_of_it() -> None:
    text = shown("--tp 8", "--enable-flashinfer-mla")
    assert "Corrected" in text
    assert "--tp-size 8" in text.partition("Corrected")[2]
