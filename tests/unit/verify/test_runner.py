"""Order, choice, liveness, counts: what the runner adds to the probes."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest

from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost, UsageError
from moonpad.verify.api import Api, Deadlines
from moonpad.verify.judged_model import too_small
from moonpad.verify.probe import ApiProbe, Outcome, Status, passed
from moonpad.verify.runner import Report, choose, verify
from tests.unit.verify.fake_endpoint import BASIC, Fake, serve

IMPATIENT = Deadlines(connect_s=0.2, control_s=0.2, answer_s=0.2, idle_s=0.2, stream_s=0.4, canary_s=0.2)


def run(fake: Fake, **options: object) -> Report:
    async def ask() -> Report:
        async with serve(fake) as endpoint:
            return await verify(endpoint, **{"probes": BASIC, **options})  # type: ignore[arg-type]

    return asyncio.run(ask())


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def statuses(report: Report) -> dict[str, Status]:
    return {result.probe.id: result.outcome.status for result in report.results}


def test_nothing_there() -> None:
    endpoint = Endpoint(f"http://127.0.0.1:{closed_port()}/v1", "kimi-k2")
    report = asyncio.run(verify(endpoint, probes=BASIC))
    assert not report.answered
    assert statuses(report) == {probe.id: Status.FAIL if probe.id == "health" else Status.SKIP for probe in BASIC}
    assert "nothing answers" in report.results[-1].outcome.because


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999/v1", "http://no-such-host.invalid/v1", "http:///v1"])
def test_an_address_that_leads_nowhere(url: str) -> None:
    assert not asyncio.run(verify(Endpoint(url, "kimi-k2"))).answered


def test_hang_everywhere_is_no_answer() -> None:
    assert not run(Fake(faults=frozenset({"hang everywhere"})), deadlines=IMPATIENT).answered


def test_the_rest_is_skipped_once_the_endpoint_stops_answering() -> None:
    report = run(Fake(faults=frozenset({"hang"})), deadlines=IMPATIENT)
    assert report.answered
    assert statuses(report) == {
        "health": Status.PASS,
        "models": Status.PASS,
        "chat": Status.FAIL,
        **{probe.id: Status.SKIP for probe in BASIC[3:]},
    }
    assert report.results[3].outcome.because == "the endpoint stopped answering at the probe chat"


def test_one_hang_does_not_end_the_run() -> None:
    report = run(Fake(faults=frozenset({"hang in streams"})), deadlines=IMPATIENT)
    assert statuses(report) == {probe.id: Status.FAIL if probe.id == "streaming" else Status.PASS for probe in BASIC}


def test_the_only_model_is_taken_where_none_is_named() -> None:
    report = run(Fake(model=""))
    assert report.model == "kimi-k2"
    assert report.count(Status.PASS) == len(BASIC)


@pytest.mark.parametrize(
    ("fake", "expected"),
    [
        (Fake(model="", served=("a", "b")), "a, b"),
        (Fake(model="", served=()), "none"),
        (Fake(model="", key="canary"), "wants a key"),
        (Fake(model="", faults=frozenset({"models are html"})), "`data` is not a list"),
    ],
)
def test_which_model_must_be_clear(fake: Fake, expected: str) -> None:
    with pytest.raises(UsageError, match=expected) as raised:
        run(fake)
    assert raised.value.remedy


def test_only_chooses_in_the_order_of_the_probes() -> None:
    assert [probe.id for probe in choose(["wrong_model", "chat"])] == ["chat", "wrong_model"]
    with pytest.raises(UsageError, match="tool_cal") as raised:
        choose(["tool_cal"])
    assert raised.value.remedy == "did you mean tool_call?"


def test_json_has_the_keys_of_the_command_line_contract() -> None:
    report = run(Fake(faults=frozenset({"foreign id"})))
    document = json.loads(json.dumps(report.as_json()))
    assert {"endpoint", "passed", "failed", "skipped", "probes"} <= document.keys()
    assert (document["passed"], document["failed"], document["skipped"]) == (6, 1, 0)
    assert all({"id", "status", "because", "findings"} <= probe.keys() for probe in document["probes"])
    (finding,) = document["probes"][5]["findings"]
    assert finding.keys() == {"severity", "code", "where", "message", "remedy"}


def test_a_probe_for_able_models_is_not_even_asked_on_a_small_one() -> None:
    apis: list[Api] = []

    async def ask(api: Api) -> Outcome:
        apis.append(api)
        return passed("answered")

    probe = ApiProbe("hard", ask, "x", "y", needs_able_model=True)
    report = run(Fake(root="/catalog/kimi-k2-tiny"), probes=(probe,))
    assert (statuses(report), apis) == ({"hard": Status.SKIP}, [])
    assert statuses(run(Fake(), probes=(probe,))) == {"hard": Status.PASS}


def test_contact_lost_inside_a_probe_is_its_failure() -> None:
    async def lose(api: Api) -> Outcome:
        raise ContactLost("gone", remedy="look")

    report = run(Fake(), probes=(ApiProbe("lossy", lose, "x", "y"),))
    assert statuses(report) == {"lossy": Status.FAIL}


@pytest.mark.parametrize("card", [{"id": "kimi-k2-tiny"}, {"id": "kimi-k2", "root": "/home/a/kimi-k2-tiny"}])
def test_small_models_are_known_by_name_or_by_checkpoint(card: dict[str, object]) -> None:
    assert too_small(card) == "kimi-k2-tiny is too small to judge"


@pytest.mark.parametrize(
    "card", [{}, {"id": "kimi-k2", "root": "moonshotai/Kimi-K2-Thinking"}, {"id": "x", "root": None}]
)
def test_other_models_are_taken_for_able(card: dict[str, object]) -> None:
    assert too_small(card) == ""
