"""One card alone, by --split-mode none."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask


def told(options: str, around: str = "") -> list[Finding]:
    text = f"{around}\nllama-server -m kimi-k2.gguf -ngl 99 {options}\n"
    return [finding for judged in ask(text) for finding in judged.findings if finding.where == "--split-mode"]


@pytest.mark.parametrize(
    ("options", "says", "remedy"),
    [
        ("-sm none -ot exps=CPU -ot attn=CUDA1", "on CUDA1", "--main-gpu 1"),
        ("--split-mode none -ot 'attn=CUDA0,exps=CUDA1'", "on CUDA1", "--split-mode layer"),
        ("-sm none -mg 1 -ot attn=CUDA0", "on CUDA0", "--main-gpu 0"),
        ("-sm none -ot a=CUDA1 -ot b=CUDA2", "on CUDA1, CUDA2", "--split-mode layer"),
        ("-sm none -ts 3,1", "--tensor-split over 2 cards has no effect", "--split-mode layer"),
    ],
)
def test_other_cards_are_told(options: str, says: str, remedy: str) -> None:
    (finding,) = told(options)
    assert str(finding.severity) == "warning"
    assert says in finding.message
    assert remedy in finding.remedy


@pytest.mark.parametrize(
    "options",
    [
        "-sm none",
        "-sm none -ot exps=CPU -ot attn=CUDA0",
        "-sm none -mg 1 -ot attn=CUDA1",
        "-sm none -mg $CARD -ot attn=CUDA1",
        "-sm none -ts 0,1",
        "-sm none -dev CUDA1 -ot attn=CUDA1",
        "-sm layer -ot attn=CUDA1",
        "-ot attn=CUDA1 -ts 3,1",
    ],
)
def test_the_main_card_and_other_modes_are_not(options: str) -> None:
    assert told(options) == []


def test_a_card_in_a_variable_is_a_note_where_the_text_names_another() -> None:
    script = "# with CUDA1 in it the start fails\nCARD=CUDA0"
    (finding,) = told("-sm none -ot exps=CPU -ot attn=$CARD", script)
    assert str(finding.severity) == "note"
    assert "--main-gpu 1" in finding.remedy
    assert told("-sm none -ot exps=CPU -ot attn=$CARD", "CARD=CUDA0") == []
    assert told("-sm none -ot exps=CPU -ot attn=CUDA0", "# the desktop runs on CUDA1") == []
