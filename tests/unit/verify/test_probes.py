"""Each probe fails on each fault that it is for, by the right finding, and passes on the sound endpoint."""

from __future__ import annotations

import asyncio

import pytest

from moonpad.values.finding import Code
from moonpad.values.records import replace
from moonpad.values.secret import Secret
from moonpad.verify.api import Deadlines
from moonpad.verify.probe import Outcome, Status
from moonpad.verify.runner import Report, verify
from tests.unit.verify.fake_endpoint import BASIC, Fake, serve

QUICK = Deadlines(connect_s=2.0, control_s=2.0, answer_s=2.0, idle_s=2.0, stream_s=4.0)
IMPATIENT = Deadlines(connect_s=0.2, control_s=0.2, answer_s=0.2, idle_s=0.2, stream_s=0.4)
TINY = "/catalog/kimi-k2-tiny"


def report_on(fake: Fake, *only: str, deadlines: Deadlines = QUICK, key: str = "") -> Report:
    async def ask() -> Report:
        async with serve(fake) as endpoint:
            if key:
                endpoint = replace(endpoint, key=Secret(key))
            return await verify(endpoint, only=only, probes=BASIC, deadlines=deadlines)

    return asyncio.run(ask())


def outcome_of(probe: str, fake: Fake, deadlines: Deadlines = QUICK) -> Outcome:
    (result,) = report_on(fake, probe, deadlines=deadlines).results
    assert result.probe.id == probe
    assert result.outcome.because
    return result.outcome


@pytest.mark.parametrize("reasoning_field", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize("root", ["/models/Kimi-K2-Thinking", TINY])
def test_a_sound_endpoint_passes_everything(reasoning_field: str, root: str) -> None:
    report = report_on(Fake(reasoning_field=reasoning_field, root=root))
    assert [(result.probe.id, result.outcome.status) for result in report.results] == [
        (probe.id, Status.PASS) for probe in BASIC
    ], report.as_json()
    assert not any(result.outcome.findings for result in report.results)


FAULTS = (
    ("health", "unhealthy", Code.UNREACHABLE),
    ("models", "models are html", Code.WRONG_ANSWER),
    ("chat", "error 500", Code.WRONG_ANSWER),
    ("chat", "answer is html", Code.WRONG_ANSWER),
    ("chat", "empty content", Code.REASONING_LOST),
    ("chat", "all in reasoning", Code.REASONING_LOST),
    ("chat", "never ends", Code.WRONG_ANSWER),
    ("chat", "no finish", Code.WRONG_ANSWER),
    ("chat", "no usage", Code.WRONG_ANSWER),
    ("chat", "usage does not add up", Code.WRONG_ANSWER),
    ("chat", "usage counts nothing", Code.WRONG_ANSWER),
    ("chat", "more tokens than asked for", Code.WRONG_ANSWER),
    ("chat", "more reasoning than tokens", Code.WRONG_ANSWER),
    ("streaming", "stream differs", Code.STREAM_BROKEN),
    ("streaming", "stream loses reasoning", Code.REASONING_LOST),
    ("streaming", "stream loses content", Code.STREAM_BROKEN),
    ("streaming", "stream cut", Code.STREAM_BROKEN),
    ("streaming", "error in stream", Code.STREAM_BROKEN),
    ("streaming", "no json in stream", Code.STREAM_BROKEN),
    ("streaming", "no finish in stream", Code.STREAM_BROKEN),
    ("streaming", "no usage in stream", Code.STREAM_BROKEN),
    ("streaming", "stream counts more", Code.STREAM_BROKEN),
    ("streaming", "no DONE", Code.STREAM_BROKEN),
    ("reasoning", "reasoning in content", Code.REASONING_LOST),
    ("reasoning", "closing tag in content", Code.REASONING_LOST),
    ("reasoning", "second thought in content", Code.REASONING_LOST),
    ("reasoning", "reasoning dropped", Code.REASONING_LOST),
    ("reasoning", "all in reasoning", Code.REASONING_LOST),
    ("reasoning", "end token visible", Code.WRONG_ANSWER),
    ("tool_call", "tools refused", Code.TOOL_CALL_LOST),
    ("tool_call", "no tool parser", Code.TOOL_CALL_LOST),
    ("tool_call", "no tool parser, tokens stripped", Code.TOOL_CALL_LOST),
    ("tool_call", "call lost", Code.TOOL_CALL_LOST),
    ("tool_call", "answers in words", Code.TOOL_CALL_LOST),
    ("tool_call", "call twice", Code.TOOL_CALL_LOST),
    ("tool_call", "tool not offered", Code.TOOL_CALL_LOST),
    ("tool_call", "arguments cut", Code.TOOL_CALL_LOST),
    ("tool_call", "arguments break the schema", Code.TOOL_CALL_LOST),
    ("tool_call", "arguments as object", Code.WRONG_ANSWER),
    ("tool_call", "foreign id", Code.TOOL_CALL_LOST),
    ("tool_call", "id counts on", Code.TOOL_CALL_LOST),
    ("tool_call", "call ends with stop", Code.TOOL_CALL_LOST),
    ("tool_call", "tokens beside the call", Code.WRONG_ANSWER),
    ("wrong_model", "any model", Code.MODEL_NAME),
    ("wrong_model", "400 for a wrong model", Code.MODEL_NAME),
    ("wrong_model", "404 without words", Code.MODEL_NAME),
    ("wrong_model", "dies of a wrong model", Code.UNREACHABLE),
)


@pytest.mark.parametrize(("probe", "fault", "code"), FAULTS)
def test_a_fault_is_found(probe: str, fault: str, code: Code) -> None:
    outcome = outcome_of(probe, Fake(faults=frozenset({fault})))
    assert outcome.status is Status.FAIL, outcome
    assert {finding.code for finding in outcome.findings} == {code}, outcome
    assert all(finding.remedy and finding.where for finding in outcome.findings)


def test_sglang_answers_to_every_name() -> None:
    """Its way, and no fault of the deployment; any other server that does so is found."""
    outcome = outcome_of("wrong_model", Fake(faults=frozenset({"any model"}), owner="sglang"))
    assert outcome.status is Status.SKIP
    assert "SGLang" in outcome.because
    assert outcome_of("wrong_model", Fake(owner="sglang")).status is Status.PASS


MODELS_DOING = (
    ("chat", "never ends"),
    ("chat", "all in reasoning"),
    ("reasoning", "second thought in content"),
    ("reasoning", "all in reasoning"),
    ("tool_call", "answers in words"),
    ("tool_call", "tool not offered"),
    ("tool_call", "arguments cut"),
    ("tool_call", "arguments break the schema"),
    ("tool_call", "id counts on"),
)


@pytest.mark.parametrize(("probe", "fault"), MODELS_DOING)
def test_a_small_model_is_not_judged(probe: str, fault: str) -> None:
    outcome = outcome_of(probe, Fake(root=TINY, faults=frozenset({fault})))
    assert outcome.status is Status.SKIP
    assert outcome.because.startswith(
        "kimi-k2-tiny is too small to judge, and server and model could not be told apart"
    )
    assert not outcome.findings


# What remains is the server's, whatever the model: a parser, an id, an end, a broken stream. A thinking model may leave
# its content empty by itself; below is one that does not think.
SERVERS_DOING = tuple(row for row in FAULTS if row[:2] not in (*MODELS_DOING, ("chat", "empty content")))


@pytest.mark.parametrize(("probe", "fault", "code"), SERVERS_DOING)
def test_a_small_model_hides_no_fault_of_the_server(probe: str, fault: str, code: Code) -> None:
    outcome = outcome_of(probe, Fake(root=TINY, faults=frozenset({fault})))
    assert outcome.status is Status.FAIL, outcome


def test_empty_content_without_thinking_is_the_servers_fault() -> None:
    outcome = outcome_of("chat", Fake(root=TINY, thinks=False, faults=frozenset({"empty content"})))
    assert outcome.status is Status.FAIL


def test_a_gateway_without_health_path_is_alive() -> None:
    assert outcome_of("health", Fake(faults=frozenset({"no health path"}))).status is Status.PASS


def test_a_model_that_does_not_think_skips_the_reasoning_probe() -> None:
    assert outcome_of("reasoning", Fake(thinks=False)).status is Status.SKIP


def test_answers_that_vary_cannot_be_compared() -> None:
    outcome = outcome_of("streaming", Fake(faults=frozenset({"varies"})))
    assert outcome.status is Status.SKIP
    assert "without streaming too" in outcome.because


def test_a_name_that_is_not_served_is_said_with_those_that_are() -> None:
    fake = Fake(model="kimi", served=("moonshotai/Kimi-K2-Thinking",))
    models = outcome_of("models", fake)
    assert models.findings[0].code is Code.MODEL_NAME
    assert "moonshotai/Kimi-K2-Thinking" in models.because
    assert "--served-model-name kimi" in models.findings[0].remedy
    assert outcome_of("chat", fake).findings[0].code is Code.MODEL_NAME


def test_without_the_key_every_answer_names_the_option() -> None:
    report = report_on(Fake(key="canary"), "models", "chat", "streaming", "wrong_model")
    assert {finding.code for result in report.results for finding in result.outcome.findings} == {Code.KEY_MISSING}
    assert report.count(Status.FAIL) == 4
    assert report_on(Fake(key="canary"), key="canary").count(Status.PASS) == len(BASIC)


@pytest.mark.parametrize(
    ("probe", "fault"), [("chat", "hang"), ("streaming", "hang in streams"), ("streaming", "stalls in the stream")]
)
def test_a_hang_ends_at_the_deadline(probe: str, fault: str) -> None:
    outcome = outcome_of(probe, Fake(faults=frozenset({fault})), IMPATIENT)
    assert outcome.status is Status.FAIL
    assert outcome.findings[0].code is Code.UNREACHABLE
    assert "within 0.20 s" in outcome.because
