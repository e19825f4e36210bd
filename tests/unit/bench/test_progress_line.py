"""What is said while a run runs, by a clock that the test moves."""

from __future__ import annotations

from moonpad.bench.progress_line import LiveFigures
from moonpad.load.failure import FailureKind, RequestFailure
from tests.unit.bench.records import record

FAILED = record(9, tokens_at_s=(), failure=RequestFailure(FailureKind.HTTP_STATUS, "busy", 503))


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_rates_and_means_so_far() -> None:
    clock = Clock()
    live = LiveFigures(clock)
    for entry in (record(0), record(1, tokens_at_s=(0.5, 1.5)), FAILED):
        live.add(entry)
    clock.now_s += 4.0
    assert live.text(3) == "3 running, 0.50 req/s, 1.2 tok/s, TTFT 750.0 ms, TPOT 750.0 ms"


def test_it_is_made_anew_four_times_a_second() -> None:
    clock = Clock()
    live = LiveFigures(clock)
    first = live.text(1)
    live.add(record(0))
    clock.now_s += 0.24
    assert live.text(2) == first == "1 running"
    clock.now_s += 0.01
    assert live.text(2).startswith("2 running, 4.00 req/s")


def test_a_run_that_only_fails_has_no_latency_to_say() -> None:
    clock = Clock()
    live = LiveFigures(clock)
    live.add(FAILED)
    clock.now_s += 1.0
    assert live.text(None) == "0.00 req/s, 0.0 tok/s"
