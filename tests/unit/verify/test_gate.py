"""Thresholds of a spec's [gate]: what is told and does not count, what may not be skipped, how far is far enough."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from moonpad.cli.command_line import run
from moonpad.report.junit import junit
from moonpad.report.verify_table import judged_in_words
from moonpad.spec.loader import parse_spec
from moonpad.values.errors import SpecError, UsageError
from moonpad.values.finding import Code
from moonpad.verify.agent_loop import LoopResult, LoopTurn
from moonpad.verify.gate import NOTHING_JUDGED, Gate
from moonpad.verify.probe import Outcome, failed, passed, skipped
from moonpad.verify.probes import LONG_PROBES, PROBES
from moonpad.verify.runner import Report, Result
from moonpad.verify.vendor import Score
from tests.unit.verify.fake_endpoint import BASIC, Fake, served

SPEC = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n'
FAULT = failed(Code.WRONG_ANSWER, "x", "wrong", "mend it")


def report(**outcomes: Outcome) -> Report:
    probes = {probe.id: probe for probe in BASIC}
    return Report("u", "m", True, tuple(Result(probes[id_], outcome, 0.1) for id_, outcome in outcomes.items()))


def turns(right: int, *, drift: bool = False) -> tuple[LoopTurn, ...]:
    loop_turns = tuple(LoopTurn(number, 0.1, 10, "", {}) for number in range(1, right + 1))
    return (*loop_turns, LoopTurn(right + 1, 0.1, 10, "another page", {})) if drift else loop_turns


def score(**counts: int) -> Score:
    names = ("success_count", "failure_count", "finish_stop", "finish_tool_calls", "finish_others")
    zeros = {**dict.fromkeys(names, 0), "successful_tool_call_count": 0}
    return Score(**{**zeros, **counts})


def test_probes() -> None:
    gate = Gate(must_pass=("chat", "models"), may_fail=("health",))
    assert gate.of_report(report(health=FAULT, chat=passed("fine"), models=passed("fine"))) == ()
    assert gate.of_report(report(health=passed("x"), chat=FAULT, models=skipped("too small"))) == (
        "chat failed",
        "models must pass, but was skipped: too small",
    )
    assert Gate().of_report(report(health=FAULT, chat=skipped("x"))) == ("health failed",)


def test_a_run_that_judged_neither_a_call_nor_the_reasoning() -> None:
    away = skipped("no tools here")
    nothing = report(chat=passed("fine"), tool_call=away, reasoning=away)
    assert Gate().of_report(nothing) == (NOTHING_JUDGED,)
    assert judged_in_words(nothing) == (
        "1 of 3 judged, 2 not: tool_call, reasoning (no tools here). "
        "Neither a tool call nor the reasoning could be judged, so nothing is proved."
    )
    assert nothing.as_json()["judged_tool_call"] is False
    for judged in ({"tool_call": passed("a call")}, {"reasoning": passed("apart")}):
        assert Gate().of_report(report(**{"tool_call": away, "reasoning": away, **judged})) == ()
    assert Gate().of_report(report(health=passed("fine"))) == ()  # neither was to be judged


def test_junit_says_what_was_judged() -> None:
    away = skipped("no tools here")
    text = junit(report(chat=passed("fine"), tool_call=away, reasoning=away))
    suite = ElementTree.fromstring(text)  # noqa: S314 - our own text
    properties = {row.get("name"): row.get("value") for row in suite.iter("property")}
    assert properties["judged_tool_call"] == properties["judged_reasoning"] == "false"
    assert str(properties["judged"]).startswith("1 of 3 judged, 2 not: tool_call, reasoning")


def test_the_loop() -> None:
    assert Gate(loop_calls=100).of_loop(LoopResult(300, turns(104, drift=True))) == ()
    assert Gate(loop_calls=105).of_loop(LoopResult(300, turns(104, drift=True))) == (
        "the loop made 104 calls, loop_calls is 105",
    )
    assert Gate().of_loop(LoopResult(300, turns(104, drift=True))) == ("the loop made 104 of 300 calls",)
    assert Gate().of_loop(LoopResult(3, turns(4))) == ()


def test_the_scores() -> None:
    scored = score(success_count=10, finish_tool_calls=4, successful_tool_call_count=3)
    assert Gate().of_score(scored) == ()
    assert Gate(schema_accuracy=0.75).of_score(scored) == ()
    assert Gate(schema_accuracy=0.8).of_score(scored) == ("the schema accuracy is 0.750, below 0.8",)
    assert "none was given" in Gate(trigger_similarity=0.7).of_score(scored)[0]
    alike = Score(10, 0, 6, 4, 0, 4, compared=10, true_positive=3, false_positive=1, false_negative=1)
    assert Gate(trigger_similarity=0.75).of_score(alike) == ()
    assert Gate(trigger_similarity=0.8).of_score(alike) == ("the trigger similarity is 0.750, below 0.8",)
    assert Gate().of_score(score(failure_count=2)) == ("2 requests failed",)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ('must_pass = ["tool_cal"]', 'did you mean "tool_call"?'),
        ('may_fail = ["nonsense"]', "docs/verify.md lists the probes"),
        ('must_pass = ["chat"]\nmay_fail = ["chat"]', "remove it from one of them"),
    ],
)
def test_probes_that_there_are_not(table: str, expected: str) -> None:
    thresholds = parse_spec(f"{SPEC}[gate]\n{table}\n", name="x").gate
    gate = Gate(**thresholds.model_dump(include=set(Gate.__dataclass_fields__)))
    with pytest.raises(UsageError) as caught:
        gate.check((*PROBES, *LONG_PROBES))
    assert caught.value.remedy == expected


@pytest.mark.parametrize("table", ["schema_accuracy = 87", "loop_calls = 0", 'must_pass = "chat"', "min_pass = 3"])
def test_a_spec_that_is_wrong(table: str) -> None:
    with pytest.raises(SpecError):
        parse_spec(f"{SPEC}[gate]\n{table}\n", name="x")


# --- the command -----------------------------------------------------------------------------------------------------


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "gate.toml"
    known = [probe.id for probe in PROBES if probe not in BASIC]
    spec.write_text(f"{SPEC}[gate]\nmay_fail = {json.dumps([*known, 'reasoning'])}\nloop_calls = 5\n")
    with served(Fake(thinks=False)) as url:
        assert run(["verify", str(spec), "--url", url, "--gate", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["failed"] > 0
        spec.write_text(spec.read_text() + 'must_pass = ["reasoning"]\n'.replace("reasoning", "needle"))
        assert run(["verify", str(spec), "--url", url, "--gate", "--out", str(tmp_path / "kept")]) == 5
        assert "needle must pass, but was skipped" in capsys.readouterr().err
        assert "needle must pass" in json.loads((tmp_path / "kept" / "verdict.json").read_text())["gate"][0]
        assert run(["verify", str(spec), "--url", url, "--gate", "--loop", "6"]) == 5
        assert "the loop made 0 calls, loop_calls is 5" in capsys.readouterr().err
        assert run(["verify", str(spec), "--url", url, "--gate", "--only", "chat"]) == 2
        assert run(["verify", "--url", url, "--gate"]) == 2
        assert run(["verify", str(spec), "--url", url]) == 2
        assert run(["verify", "--url", url, "--gate", "--numerics"]) == 2
