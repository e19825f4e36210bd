"""What a person reads."""

from __future__ import annotations

from moonpad.engines.api_facts import Topic
from moonpad.report.verify_table import verify_table
from moonpad.values.finding import Code
from moonpad.values.records import replace
from moonpad.verify.probe import failed, passed, skipped
from moonpad.verify.runner import Report, Result
from tests.unit.verify.fake_endpoint import BASIC

OUTCOMES = (
    passed("/health answers 200"),
    skipped("nothing to say"),
    failed(Code.TOOL_CALL_LOST, "--tool-call-parser", "the call is text", "start vLLM with --tool-call-parser kimi_k2"),
)
REPORT = Report(
    "http://127.0.0.1:8000/v1",
    "kimi-k2",
    True,
    tuple(
        Result(
            replace(probe, topic=Topic.REASONING_PARSER, remedy="look", gateway="that", issues=("litellm#2",)),
            outcome,
            0.1,
            engine="vllm-cpu",
        )
        for probe, outcome in zip(BASIC[:3], OUTCOMES, strict=True)
    ),
)


def test_every_row_and_the_remedy() -> None:
    assert verify_table(REPORT, 200).plain == (
        "http://127.0.0.1:8000/v1  kimi-k2\n"
        "\n"
        "  pass  health  /health answers 200\n"
        "  skip  models  nothing to say\n"
        "  fail  chat    the call is text\n"
        "                --tool-call-parser: start vLLM with --tool-call-parser kimi_k2\n"
        "                on any server: look\n"
        "                on vLLM: --reasoning-parser kimi_k2\n"
        "                on a gateway: that\n"
        "                looks like litellm#2\n"
        "\n"
        "1 passed, 1 failed, 1 skipped\n"
        "2 of 3 judged, 1 not: models (nothing to say)"
    )


def test_it_wraps_below_its_own_column() -> None:
    lines = verify_table(REPORT, 50).plain.splitlines()
    assert max(map(len, lines)) <= 50
    assert lines[5:7] == [" " * 16 + "--tool-call-parser: start vLLM", " " * 16 + "with --tool-call-parser kimi_k2"]
