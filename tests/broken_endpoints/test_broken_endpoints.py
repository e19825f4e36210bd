"""Each broken endpoint is named by the right probe, and nothing is said of the sound one."""

from __future__ import annotations

import asyncio

import pytest

from moonpad.values.records import replace
from moonpad.values.secret import Secret
from moonpad.verify.api import Deadlines
from moonpad.verify.probe import Status
from moonpad.verify.probes import LONG_PROBES, wrong_requests
from moonpad.verify.runner import Report, verify
from tests.broken_endpoints.faults import FAULTS, Fault
from tests.broken_endpoints.server import BrokenEndpoint, serve

DEADLINES = Deadlines(connect_s=5.0, control_s=5.0, answer_s=20.0, idle_s=10.0, stream_s=60.0, canary_s=2.0)


def report_on(*faults: str, key: str = "", only: tuple[str, ...] = (), model: str = "") -> Report:
    async def ask() -> Report:
        async with serve(BrokenEndpoint(frozenset(faults), key)) as endpoint:
            target = replace(endpoint, key=Secret(key) if key else None, model=model or endpoint.model)
            return await verify(target, only=only, deadlines=DEADLINES)

    return asyncio.run(ask())


def failed_of(report: Report) -> set[str]:
    return {result.probe.id for result in report.results if result.outcome.status is Status.FAIL}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.switch)
def test_is_named(fault: Fault) -> None:
    (result,) = report_on(fault.switch, key=fault.key, only=(fault.probe,)).results
    assert result.outcome.status is Status.FAIL, result.outcome.because
    assert result.outcome.findings[0].remedy


def test_every_row_of_the_facts_has_a_fault() -> None:
    assert {fault.row for fault in FAULTS} == set(range(31))
    assert sum(fault.row == 0 for fault in FAULTS) >= 20
    assert len({fault.switch for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("key", ["", "sk-the-key"])
def test_nothing_is_said_of_a_sound_endpoint(key: str) -> None:
    report = report_on(key=key)
    skipped = {result.probe.id for result in report.results if result.outcome.status is Status.SKIP}
    assert failed_of(report) == set(), report.as_json()
    assert skipped == (set() if key else {"auth"}), report.as_json()
    assert not any(result.outcome.findings for result in report.results)


def test_a_busy_server_that_is_late_with_everything_is_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_requests, "WITHIN_S", 0.1)
    monkeypatch.setattr(wrong_requests, "ATTEMPTS", 1)
    (result,) = report_on("busy", only=("bad_requests",)).results
    assert result.outcome.status is Status.PASS, result.outcome.because
    (late,) = report_on("broken JSON is refused late", only=("bad_requests",)).results
    assert late.outcome.status is Status.FAIL


def test_long_probes_pass_on_a_sound_endpoint() -> None:
    ids = tuple(probe.id for probe in LONG_PROBES)
    assert failed_of(report_on(only=ids)) == set()


def test_the_models_own_text_is_found_behind_a_parser_that_drops_it() -> None:
    """As vLLM's does with tool_choice none: the prompt is continued as plain text."""
    drops = "the parser drops the calls of tool_choice none"
    (result,) = report_on(drops, only=("raw_calls",)).results
    assert result.outcome.status is Status.PASS
    assert "functions.get_weather:0" in result.outcome.because
    assert failed_of(report_on(drops, "the model's calls are no JSON", only=("raw_calls",))) == {"raw_calls"}


def test_the_short_name_of_a_model() -> None:
    """Seed 2's question: 404 because the model is asked for by another name than it is served under."""
    (result,) = report_on(only=("chat",), model="Kimi-K2-Thinking").results
    assert result.outcome.status is Status.FAIL
    assert "--served-model-name" in result.outcome.findings[0].remedy


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(20))
def test_no_false_alarm(turn: int) -> None:
    assert failed_of(report_on(key="sk-the-key")) == set()
