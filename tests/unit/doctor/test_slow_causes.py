"""Each reason is a cause where its figures say so, none where they do not, and unknown where they are missing."""

from __future__ import annotations

from typing import Any

import pytest

from moonpad.doctor.slow_causes import CHECKS, explain_slowness
from moonpad.doctor.slow_facts import LoadFigures, RequestFigures, ServerFigures, SlowFacts
from moonpad.doctor.slow_marks import marks_of
from moonpad.values.records import replace

ALONE = LoadFigures(1, 3, 32, ttft_s=0.1, tpot_s=0.02, output_tokens_per_s=48.0, chunk_tokens=1.0)
EIGHT = LoadFigures(8, 16, 32, ttft_s=0.2, tpot_s=0.025, output_tokens_per_s=90.0, chunk_tokens=1.0)
LONG = LoadFigures(1, 2, 2048, ttft_s=1.0, tpot_s=0.02, output_tokens_per_s=2.0, chunk_tokens=1.0)
USERS = RequestFigures(100, queued_s=0.1, prefill_s=0.4, decode_s=9.5, between_tokens_s=0.02, prompt_tokens=900.0)
OWN = RequestFigures(20, queued_s=0.0, prefill_s=0.1, decode_s=0.6, between_tokens_s=0.024)
IDLE = ServerFigures(5.0, running=12.0, waiting=0.0, most_waiting=0.0, kv_usage=0.4, preemptions=0.0)
SOUND = SlowFacts(
    alone=ALONE, together=EIGHT, long=LONG, users=USERS, own=OWN, idle=IDLE, loaded=replace(IDLE, running=18.0),
    connect_s=0.0005, answer_s=0.002, tokenize=(2048, 0.01), busy=0.97, marks=(),
)  # fmt: skip

EAGER = "INFO 11-25 [vllm.py:500] Cudagraph is disabled under eager mode"
FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "requests waited by the engine's clock": ("queueing", {"users": replace(USERS, queued_s=6.0)}),
    "requests wait now, no clock": ("queueing", {"users": None, "idle": replace(IDLE, waiting=9.0)}),
    "cache thrown away": ("preemption", {"loaded": replace(IDLE, preemptions=4.0, kv_usage=0.99)}),
    "prompts take most": ("long prompts", {"users": replace(USERS, prefill_s=12.0, prompt_tokens=60_000.0)}),
    "one stream on an idle engine": (
        "low batch",
        {"idle": replace(IDLE, running=1.0), "together": replace(EIGHT, output_tokens_per_s=250.0)},
    ),
    "too hot": ("devices", {"held_back": ("device 3: held back by hardware slowdown, at 91 °C",)}),
    "the host is slow": ("devices", {"busy": 0.31}),
    "graphs are off": ("backend", {"marks": marks_of(EAGER)}),
    "a tokenizer in Python": ("tokenizer", {"tokenize": (2048, 0.6)}),
    "far away": ("network", {"connect_s": 0.03, "answer_s": 0.07}),
    "a busy API process": ("network", {"connect_s": 0.0003, "answer_s": 0.05}),
    "a proxy that buffers": ("network", {"together": replace(EIGHT, chunk_tokens=11.0)}),
    "a proxy that is slow": ("network", {"own": replace(OWN, between_tokens_s=0.006)}),
}  # fmt: skip


def test_a_sound_endpoint_has_no_cause() -> None:
    assert {verdict.standing for verdict in explain_slowness(SOUND)} == {"no"}
    assert {verdict.reason for verdict in explain_slowness(SOUND)} == {reason for reason, _ in FAULTS.values()}


@pytest.mark.parametrize("name", FAULTS)
def test_is_the_only_cause(name: str) -> None:
    reason, change = FAULTS[name]
    verdicts = explain_slowness(replace(SOUND, **change))
    causes = [verdict for verdict in verdicts if verdict.standing == "cause"]
    assert [verdict.reason for verdict in causes] == [reason]
    assert causes[0].remedy
    assert any(letter.isdigit() for letter in causes[0].message), "a cause has its figure"


def test_what_was_not_measured_is_not_passed() -> None:
    bare = SlowFacts(alone=ALONE, together=EIGHT, unknown=(("devices", "the endpoint is on another machine"),))
    verdicts = {verdict.reason: verdict for verdict in explain_slowness(bare)}
    assert {verdict.standing for verdict in verdicts.values()} == {"unknown"}
    assert verdicts["devices"].message == "the endpoint is on another machine"
    assert len(verdicts) == len(CHECKS)


def test_the_largest_share_comes_first() -> None:
    users = replace(USERS, queued_s=5.0, prefill_s=20.0)  # of 34.5 s: 14 % and 58 %
    both = explain_slowness(replace(SOUND, users=users, tokenize=(2048, 0.3)))
    assert [(verdict.reason, round(verdict.share or 0, 2)) for verdict in both[:2]] == [
        ("long prompts", 0.58),
        ("tokenizer", 0.3),
    ]


@pytest.mark.parametrize("line", ["INFO: capturing CUDA graphs", "enforce_eager=False", "Using FLASHMLA backend", ""])
def test_usual_lines_are_no_marks(line: str) -> None:
    assert marks_of(line) == ()


def test_a_mark_is_named_once() -> None:
    line = (
        "WARNING [fused_moe.py:1073] Using default MoE config. Performance might be sub-optimal! Config file not found"
    )
    (mark,) = marks_of(f"x\n{line}\n{line}\n")
    assert (mark.line, "tuned configuration" in mark.message) == (2, True)
