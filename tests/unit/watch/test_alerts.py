"""Each alert speaks in its fault, names a remedy, and is silent on a sound endpoint."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from moonpad.facts.probe import Unknown
from moonpad.observe.histograms import Histogram
from moonpad.values.records import replace
from moonpad.values.supervision import State
from moonpad.watch.alerts import RULES, Limits, alerts_of
from moonpad.watch.look import Health, Look
from tests.unit.watch.looks import INF, loaded, looks, running, sound

Change = Callable[[Look, int], Look]
REFUSED = Health(None, "[Errno 111] Connection refused")


def queue(look: Look, at: int) -> Look:
    return loaded(look, waiting=float(at), kv_usage=0.5)


def full(look: Look, at: int) -> Look:
    return loaded(look, kv_usage=0.99, waiting=2.0)


def still(look: Look, at: int) -> Look:
    return loaded(look, generation_tokens=1000.0, prompt_tokens=5000.0)


def preempting(look: Look, at: int) -> Look:
    return loaded(look, preemptions=7.0 + at // 5)


def slow(look: Look, at: int) -> Look:
    return replace(look, times={"ttft": Histogram((0.1, 1.0, 10.0, INF), (9.0, 10.0, 10.0, 10.0 + at))})


FAULTS: dict[str, Change] = {
    "not-answering": lambda look, at: replace(look, health=REFUSED, load=Unknown("refused")),
    "failed": lambda look, at: running(look, state=State.FAILED, because="the engine exited with 1"),
    "hung": still,
    "restarted": lambda look, at: running(look, restarted_s=20.0, restarts=1, generation=2),
    "kv-cache-full": full,
    "preemptions": preempting,
    "queue-grows": queue,
    "slow-first-token": slow,
}


def codes(of: tuple[Look, ...]) -> list[str]:
    return [alert.code for alert in alerts_of(of)]


@pytest.mark.parametrize("count", [1, 2, 30])
def test_silent_on_a_sound_endpoint(count: int) -> None:
    assert codes(looks(count)) == []


def test_silent_on_one_at_rest() -> None:
    assert codes(looks(30, lambda look, at: loaded(still(look, at), running=0.0, waiting=0.0, kv_usage=0.0))) == []


@pytest.mark.parametrize("code", FAULTS)
def test_speaks_in_its_fault_and_no_other_does(code: str) -> None:
    (alert,) = alerts_of(looks(30, FAULTS[code]))
    assert alert.code == code
    assert alert.message
    assert alert.remedy


def test_every_rule_has_a_fault() -> None:
    spoken = {rule for rule in RULES for change in FAULTS.values() if rule(looks(30, change), Limits())}
    assert spoken == set(RULES)


@pytest.mark.parametrize("state", [State.STOPPED, State.STARTING])
def test_silent_where_it_is_down_on_purpose(state: State) -> None:
    assert codes(looks(3, lambda look, at: running(FAULTS["not-answering"](look, at), state=state))) == []


def test_a_hang_that_the_controller_saw() -> None:
    (alert,) = alerts_of(looks(2, lambda look, at: running(look, state=State.STALLED, because="nothing has moved")))
    assert (alert.code, str(alert.severity)) == ("hung", "error")


def test_one_late_answer_is_a_busy_server_and_two_are_none() -> None:
    late = Health(None, "timed out", timed_out=True)
    assert codes((sound(0), replace(sound(1), health=late))) == []
    assert codes((replace(sound(0), health=late), replace(sound(1), health=late))) == ["not-answering"]


def test_a_long_prompt_of_less_than_the_limit_is_no_hang() -> None:
    assert codes(looks(15, still)) == [], "28 seconds"


def test_a_full_cache_alone_is_well_used() -> None:
    assert codes(looks(30, lambda look, at: loaded(look, kv_usage=1.0, waiting=0.0))) == []


def test_a_burst_is_no_growing_queue() -> None:
    assert codes(looks(30, lambda look, at: loaded(look, waiting=30.0 if at == 29 else 0.0))) == []


def test_a_bucket_that_reaches_over_the_limit_is_not_judged() -> None:
    wide = Histogram((5.0, 20.0, INF), (0.0, 10.0, 10.0))
    assert codes((sound(0), replace(sound(1), times={"ttft": wide}))) == []


def test_an_endpoint_of_others_gets_remedies_without_a_name() -> None:
    (alert,) = alerts_of((replace(sound(0), run=None, health=REFUSED),))
    assert "moonpad logs" not in alert.remedy
