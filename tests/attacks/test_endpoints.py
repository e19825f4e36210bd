"""No endpoint makes a verb hang, lose what it measured, eat memory or show a traceback."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from moonpad.engines import ENGINES
from moonpad.facts.probe import Unknown
from moonpad.load.endpoint_url import target_of
from moonpad.load.failure import RequestFailed
from moonpad.load.json_request import JsonResponse, fetch
from moonpad.observe.metrics import ask_load
from moonpad.observe.readiness import ask_health, ask_one_token
from moonpad.values.endpoint import Endpoint
from moonpad.values.secret import Secret
from moonpad.verify.api import connect
from moonpad.verify.probes import LONG_PROBES, PROBES
from moonpad.verify.runner import verify
from tests.attacks.endpoint_runs import MOST_S, VENDOR_LINE, VERBS, run
from tests.attacks.endpoints import ATTACKS
from tests.attacks.hostile_server import EVERYTHING, MODEL, Attack, hostile, says

BY_NAME = {attack.name: attack for attack in ATTACKS}
LIMIT_S = 0.5
SLACK_S = 3.0
"""For a busy machine, and for closing what is open."""


def test_every_attack_has_a_name_of_its_own() -> None:
    assert len(BY_NAME) == len(ATTACKS) > 250


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        ("bench", "usage 18446744073709551615"),
        ("bench", "closes before the request"),
        ("bench", "an event of 100 MB"),
        ("sweep", "trailers without end"),
        ("conversation", "tool_calls an index of 2^63"),
        ("chat", "tokens without end"),
        ("vendor streamed", "a gzip bomb as a stream"),
        ("loop", "tool_calls an id of 10000 digits"),
        ("numerics", "logprobs token_logprobs [None, 'nan', 'inf']"),
    ],
)
def test_a_verb_survives(verb: str, name: str, tmp_path: Path) -> None:
    assert run(verb, BY_NAME[name], tmp_path).problems == ()


def test_the_runner_sees_what_is_wrong(tmp_path: Path) -> None:
    """It would call nothing wrong if it saw nothing."""
    done = run("bench", None, tmp_path)
    assert (done.problems, done.code, 20 < done.mib < 500) == ((), 0, True)
    assert '"completed":3' in done.stdout.replace(" ", "")


def test_a_sweep_keeps_the_loads_before_the_one_that_fails(tmp_path: Path) -> None:
    """Two requests of the first load are answered, none of the second."""
    done = run("sweep", BY_NAME["closes after 9 bytes"], tmp_path, spare=2)
    assert (done.problems, done.code) == ((), 5)
    points = json.loads(done.stdout)["points"]
    assert [(point["load"], point["completed"]) for point in points] == [(1, 2)]
    assert json.loads((tmp_path / "run" / "sweep.json").read_text())["points"] == points


def test_a_vendor_set_is_scored_as_far_as_it_was_answered(tmp_path: Path) -> None:
    """One answer, and then three in a row that do not come in time."""
    lines = [json.dumps({**VENDOR_LINE, "max_tokens": 60 + number}) for number in range(9)]
    (tmp_path / "vendor9.jsonl").write_text("\n".join(lines))
    more = ("--vendor", "vendor9.jsonl", "--concurrency", "1")
    done = run("vendor", BY_NAME["silent after 1 bytes"], tmp_path, spare=1, more=more)
    assert (done.problems, done.code) == ((), 6)
    score = json.loads(done.stdout)
    assert (score["success_count"], score["failure_count"]) == (1, 2)


@pytest.mark.parametrize(
    "name",
    [
        "status 000",
        "a chunk size below zero",
        "trailers without end",
        "a gzip bomb",
        "interim responses, one at a time",
        "two answers to one request",
        "resets before the request",
        "a body without end",
        "metrics without end",
        "metrics b'1e300'",
    ],
)
def test_the_probes_of_a_run_end_in_time(name: str) -> None:
    _check_probes(BY_NAME[name])


@pytest.mark.slow
@pytest.mark.drawn
@pytest.mark.parametrize("name", BY_NAME)
def test_the_probes_of_a_run_end_in_time_whatever_comes(name: str) -> None:
    _check_probes(BY_NAME[name])


def _check_probes(attack: Attack) -> None:
    with hostile(attack) as server:
        endpoint = Endpoint(server.url, MODEL)
        for ask in (ask_health, ask_one_token):
            begun_s = time.monotonic()
            answer = ask(endpoint, LIMIT_S)
            assert time.monotonic() - begun_s < LIMIT_S + SLACK_S
            assert answer.status is None or 200 <= answer.status <= 999
        begun_s = time.monotonic()
        load = ask_load(endpoint, ENGINES["vllm"].metrics, LIMIT_S)
        assert time.monotonic() - begun_s < LIMIT_S + SLACK_S
        assert isinstance(load, Unknown) or load.running is None or 0 <= load.running <= 2**53
        begun_s = time.monotonic()
        fetched = asyncio.run(_fetch(endpoint))
        assert time.monotonic() - begun_s < LIMIT_S + SLACK_S
        assert isinstance(fetched, JsonResponse | RequestFailed)


async def _fetch(endpoint: Endpoint) -> JsonResponse | RequestFailed:
    target = target_of(endpoint)
    try:
        return await fetch(target, target.get("/v1/models"), timeout_s=LIMIT_S)
    except RequestFailed as failed:
        return failed


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_key_follows_no_redirect(status: int) -> None:
    with hostile(None) as other:
        location = other.url.encode() + b"/models"
        head = b"HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % (status, location)
        with hostile(Attack("a redirect", says(head, ""), EVERYTHING)) as server:
            endpoint = Endpoint(server.url, MODEL, Secret("tell-no-one"))
            assert ask_health(endpoint, 5.0).status == status
            asyncio.run(_fetch(endpoint))
            assert asyncio.run(_get(endpoint)) == status
            assert len(server.requests) == 3
        assert other.requests == []


async def _get(endpoint: Endpoint) -> int:
    async with connect(endpoint) as api:
        return (await api.get("/models")).status


@pytest.mark.slow
@pytest.mark.drawn
@pytest.mark.parametrize("spare", [0, 3])
@pytest.mark.parametrize("name", BY_NAME)
def test_verify_has_a_verdict_on_every_probe(name: str, spare: int) -> None:
    """`spare`: the attack begins after some sound answers."""
    ids = [probe.id for probe in (*PROBES, *LONG_PROBES)]
    begun_s = time.monotonic()
    with hostile(BY_NAME[name], spare) as server:
        report = asyncio.run(verify(Endpoint(server.url, MODEL, timeout_s=LIMIT_S), only=ids))
    assert time.monotonic() - begun_s < MOST_S
    assert [result.probe.id for result in report.results] == ids
    reasons = [result.outcome.because for result in report.results]
    assert all(len(reason) < 2100 and "could not be judged" not in reason for reason in reasons)


@pytest.mark.slow
@pytest.mark.drawn
@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_survives_every_attack(verb: str, name: str, tmp_path: Path) -> None:
    models = BY_NAME[name].on == ("/v1/models",)
    assert run(verb, BY_NAME[name], tmp_path, named=not models).problems == ()
