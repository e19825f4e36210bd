"""What a person sees of a tune: the table, --explain, the page."""

from __future__ import annotations

from pathlib import Path

from moonpad.report.tune_page import tune_page
from moonpad.report.tune_table import tune_details, tune_table
from moonpad.tune.outcome import Outcome, effects_of, outcome_of
from tests.unit.tune.world import machine

FAST = "--async-scheduling"
MORE = "max_num_batched_tokens = 2048"
ABOUT = {"model": "kimi", "cluster": "8xH200", "engine": "vllm", "engine_version": "1", "load_words": "chat, 16 users"}


def outcome(path: Path, *, wrong: frozenset[str] = frozenset()) -> Outcome:
    world = machine(path, effects={FAST: 1.3, MORE: 1.2}, wrong=wrong, refused=frozenset({"max_num_seqs = 32"}))
    return outcome_of(world.run(), "good requests/s")


def test_the_table_begins_with_the_answer(tmp_path: Path) -> None:
    text = tune_table(outcome(tmp_path), 120).plain
    assert text.startswith(f"{FAST}; {MORE} gives × 1.5")
    assert "side by side" in text
    assert "1 candidates were not started" in text


def test_a_faster_setting_that_is_not_taken_is_told(tmp_path: Path) -> None:
    text = tune_table(outcome(tmp_path, wrong=frozenset({FAST})), 120).plain
    assert "Not taken: --async-scheduling" in text
    assert "it answers otherwise: log-probabilities differ by 0.4" in " ".join(text.split())


def test_explain_has_each_knob_and_what_was_left_out(tmp_path: Path) -> None:
    found = outcome(tmp_path)
    text = tune_details(ABOUT, found, effects_of(found), 120).plain
    assert "What each knob brought by itself" in text
    assert "the device does not wait for the host between two steps" in text
    assert "max_num_seqs = 32: needs 3.0 GiB, 2.0 GiB is left" in text


def test_the_page_stands_alone(tmp_path: Path) -> None:
    found = outcome(tmp_path)
    html = tune_page({**ABOUT, "model": "<script>"}, found, effects_of(found))
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html
    assert "http" not in html.split("</head>")[1].replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    for words in ("What each knob brought by itself", "Not started", "× 1."):
        assert words in html
