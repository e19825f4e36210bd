"""When an engine is started again, when it hangs, when it is stable: whole histories, no time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.facts.probe import Unknown
from moonpad.observe.metrics import EngineLoad
from moonpad.observe.readiness import ProbeAnswer
from moonpad.run.restart_policy import Recovered, StableWatch, Stalled, StallWatch, restart_delay_s, restarts_within
from moonpad.values.supervision import BACKOFF_LIMIT_S, Policy

POLICY = Policy()
TOKEN = ProbeAnswer(200, '{"choices": [{}]}')
IN_VAIN = ProbeAnswer(None, "timed out", timed_out=True)
Sample = EngineLoad | Unknown


def load(
    tokens: float | None, running: float | None = 3.0, *, prompt: float | None = 10.0, kv: float | None = 0.5
) -> EngineLoad:
    return EngineLoad(running, 0.0, kv, tokens, prompt)


# --- restarts


def test_delays_double_and_end() -> None:
    restarts: list[float] = []
    delays: list[float] = []
    now_s = 1000.0
    while (delay_s := restart_delay_s(POLICY, restarts, now_s)) is not None:
        delays.append(delay_s)
        restarts.append(now_s)
        now_s += delay_s + 1.0
    assert delays == [2.0, 4.0, 8.0]


def test_restarts_before_the_window_do_not_count() -> None:
    restarts = [0.0, 10.0, 20.0]
    assert restart_delay_s(POLICY, restarts, 3599.0) is None
    assert restart_delay_s(POLICY, restarts, 3600.0) == 8.0, "the first has left the window, two are in it"
    assert restart_delay_s(POLICY, restarts, 3620.0) == 2.0
    assert restarts_within(POLICY, restarts, 3615.0) == 1


def test_no_restarts() -> None:
    assert restart_delay_s(Policy(restarts=0), [], 0.0) is None


@given(
    st.integers(0, 10_000),
    st.lists(st.floats(0, 1e6), max_size=50),
    st.floats(0, 1e4),
    st.floats(0, 1e9),
    st.floats(0, 1e6),
)
def test_a_delay_is_bounded(limit: int, restarts: list[float], backoff_s: float, window_s: float, now_s: float) -> None:
    policy = Policy(restarts=limit, restart_backoff_s=backoff_s, restart_window_s=window_s)
    delay_s = restart_delay_s(policy, restarts, now_s)
    assert (delay_s is None) == (restarts_within(policy, restarts, now_s) >= limit)
    assert delay_s is None or 0 <= delay_s <= BACKOFF_LIMIT_S


def test_many_restarts_are_still_a_number() -> None:
    assert restart_delay_s(Policy(restarts=100_000), [0.0] * 5000, 1.0) == BACKOFF_LIMIT_S


# --- stalls


def history(
    watch: StallWatch,
    sample: Callable[[float], Sample],
    canary: Callable[[float], ProbeAnswer],
    seconds: range,
    probe_s: float = POLICY.stall_probe_s,
) -> Iterator[tuple[float, Stalled | Recovered | str]]:
    """One sample a second. A canary's outcome is known `probe_s` after it was sent where it is in vain, else soon."""
    pending: tuple[float, ProbeAnswer] | None = None
    for now_s in map(float, seconds):
        if pending is not None and now_s >= pending[0]:
            if change := watch.take_canary(now_s, pending[1]):
                yield now_s, change
            pending = None
        if change := watch.take(now_s, sample(now_s)):
            yield now_s, change
        if pending is None and watch.canary_due(now_s):
            yield now_s, "canary"
            watch.canary_sent(now_s)
            answer = canary(now_s)
            pending = (now_s + (probe_s if answer.timed_out else 1.0), answer)


def in_vain(_now_s: float) -> ProbeAnswer:
    return IN_VAIN


def test_a_hang_is_told_by_all_three_signs() -> None:
    """Fault 9: at most 60 s after the last token."""
    watch = StallWatch(POLICY)
    seen = list(history(watch, lambda now_s: load(min(now_s, 20.0)), in_vain, range(100)))
    assert next(what for _, what in seen) == "canary"
    at_s, stalled = seen[1]
    assert isinstance(stalled, Stalled)
    assert at_s <= 20.0 + 60.0
    assert (stalled.running, stalled.waiting, stalled.generation_tokens) == (3.0, 0.0, 20.0)
    assert stalled.still_s == at_s - 20.0
    assert "3 requests run" in stalled.reason
    assert watch.stalled
    assert len(seen) == 2, "told once"


def test_nothing_runs() -> None:
    watch = StallWatch(POLICY)
    assert list(history(watch, lambda _: load(5.0, running=0.0), in_vain, range(1000))) == []


def test_the_count_begins_with_the_first_request() -> None:
    """An idle hour does not count as a hang: the first request of the day has its time."""
    watch = StallWatch(POLICY)
    seen = list(history(watch, lambda now_s: load(5.0, running=float(now_s >= 3600)), in_vain, range(3660)))
    assert seen[0] == (3630.0, "canary")


def test_busy_is_not_hung() -> None:
    """Fault 10: one slot, a deep queue in which the canary waits, tokens that flow slowly."""
    watch = StallWatch(POLICY)
    seen = list(history(watch, lambda now_s: load(now_s // 40, running=1.0), in_vain, range(3600)))
    assert {what for _, what in seen} == {"canary"}, "asked where a token took 40 s, and never called hung"
    assert not watch.stalled


@pytest.mark.parametrize("moving", ["prompt", "kv"])
def test_a_long_prefill_is_not_a_hang(moving: str) -> None:
    """In pieces it generates nothing for minutes; only what it fills moves."""
    watch = StallWatch(POLICY)
    sample = (
        (lambda now_s: load(5.0, prompt=now_s // 10))
        if moving == "prompt"
        else (lambda now_s: load(5.0, kv=min(1.0, (now_s // 10) / 1000)))
    )
    assert list(history(watch, sample, in_vain, range(3600))) == []


def test_what_moves_during_the_canary_acquits() -> None:
    """Also where it then stands still again: the canary was not the whole time in a hung engine."""
    watch = StallWatch(POLICY)
    seen = list(history(watch, lambda now_s: load(float(now_s >= 35)), in_vain, range(66)))
    assert seen == [(30.0, "canary"), (65.0, "canary")]


def test_what_moves_at_the_last_moment_acquits() -> None:
    """Between the canary's end and the sample that is to judge."""
    watch = StallWatch(POLICY)
    seen = list(history(watch, lambda now_s: load(float(now_s >= 45)), in_vain, range(60)))
    assert seen == [(30.0, "canary")]


def test_a_canary_that_comes_back_acquits() -> None:
    watch = StallWatch(POLICY)
    seen = list(history(watch, lambda _: load(5.0), lambda _: TOKEN, range(100)))
    assert seen == [(30.0, "canary"), (61.0, "canary"), (92.0, "canary")]


@pytest.mark.parametrize(
    "answer", [ProbeAnswer(401, "wrong key"), ProbeAnswer(429, "too many"), ProbeAnswer(None, "refused")]
)
def test_a_refusal_is_no_silence(answer: ProbeAnswer) -> None:
    watch = StallWatch(POLICY)
    seen = list(history(watch, lambda _: load(5.0), lambda _: answer, range(100)))
    assert {what for _, what in seen} == {"canary"}
    assert len(seen) == 3, "and it is not asked every second"


@pytest.mark.parametrize(
    ("sample", "why"),
    [
        (Unknown("/metrics answered 404"), "404"),
        (load(None), "no count of generated tokens"),
        (load(5.0, running=None), "no count of running requests"),
        (load(None, running=None), "running requests and generated tokens"),
    ],
)
def test_what_is_not_known_is_never_still(sample: Sample, why: str) -> None:
    """An engine without a counter of tokens is never called hung, and it is said that it cannot be."""
    watch = StallWatch(POLICY)
    assert list(history(watch, lambda _: sample, in_vain, range(1000))) == []
    assert why in watch.blind


def test_a_short_gap_is_not_worth_a_word() -> None:
    watch = StallWatch(POLICY)
    sample = lambda now_s: Unknown("timed out") if now_s % 20 else load(now_s)  # noqa: E731
    for now_s, _ in ((now_s, watch.take(now_s, sample(now_s))) for now_s in map(float, range(100))):
        assert watch.blind == "", now_s


def test_counters_that_are_the_same_after_a_gap_have_not_moved_in_it() -> None:
    watch = StallWatch(POLICY)
    sample = lambda now_s: load(5.0) if now_s % 10 == 0 else Unknown("timed out")  # noqa: E731
    seen = list(history(watch, sample, in_vain, range(100)))
    assert isinstance(seen[1][1], Stalled)
    assert seen[1][0] == 50.0, "the first sample after the canary decides, not the lack of one"


def test_it_recovers_when_anything_moves() -> None:
    watch = StallWatch(POLICY)
    seen = list(history(watch, lambda now_s: load(float(now_s >= 200)), in_vain, range(300)))
    assert isinstance(seen[1][1], Stalled)
    assert seen[2] == (200.0, Recovered("tokens are generated again"))
    assert seen[3:] == [(230.0, "canary"), (245.0, seen[4][1]), *seen[5:]], "and may hang again"
    assert isinstance(seen[4][1], Stalled)


def test_it_recovers_without_further_requests() -> None:
    """The clients gave up: with nothing to do nothing moves, so a token is asked for."""
    watch = StallWatch(POLICY)
    sample = lambda now_s: load(5.0, running=float(now_s < 100))  # noqa: E731
    seen = list(history(watch, sample, lambda now_s: TOKEN if now_s >= 150 else IN_VAIN, range(300)))
    assert [what for _, what in seen[2:]][-1] == Recovered("one token came back")
    assert all(what == "canary" for _, what in seen[2:-1])
    assert not watch.stalled


def test_a_watch_that_takes_over_a_hang() -> None:
    """The controller was killed meanwhile: what is hung stays so until something moves."""
    watch = StallWatch(POLICY, stalled=True)
    seen = list(history(watch, lambda now_s: load(float(now_s >= 100)), in_vain, range(120)))
    assert seen == [(100.0, Recovered("tokens are generated again"))]


# --- stable


def test_stable_after_min_healthy() -> None:
    watch = StableWatch(POLICY, 100.0)
    events = [(now_s, event) for now_s in range(100, 200) if (event := watch.take(float(now_s), ok=True))]
    assert events == [(130, "stable")]


def test_flapping_delays_only_stable() -> None:
    """Fault 13: 200 and 503 alternate each 2 s until a quiet stretch."""
    watch = StableWatch(POLICY, 0.0)
    events = []
    for now_s in range(300):
        flapping = now_s < 100 and now_s // 2 % 2 == 1
        if event := watch.take(float(now_s), ok=not flapping):
            events.append((now_s, event))
    changes = [(now_s, "unhealthy") for now_s in range(2, 100, 4)]
    assert events == [*changes, (130, "stable")], "each change to failing once, stable 30 s after the last failed probe"


def test_stable_stays_so() -> None:
    watch = StableWatch(POLICY, 0.0, stable=True)
    assert watch.take(1.0, ok=False) == "unhealthy"
    assert watch.take(2.0, ok=False) is None
    assert not watch.healthy
    assert [watch.take(float(now_s), ok=True) for now_s in range(3, 100)] == [None] * 97
    assert watch.stable
