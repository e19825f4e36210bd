"""The client beside a server of known timing: by hand, and with the real one."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from moonpad.load.client_error import _compared, measure_client_error
from moonpad.load.event_loop import run_in_loop
from tests.unit.bench.records import record


def test_by_hand() -> None:
    """Seen 2 and 4 ms after they were written; the gaps as they were."""
    records = [record(0, tokens_at_s=(1.002, 1.042, 1.082)), record(1, tokens_at_s=(1.004, 1.044, 1.084))]
    written = {0: [101.0, 101.04, 101.08], 1: [101.0, 101.04, 101.08]}
    actual = _compared(records, written, 100.0, 0.04, 0.3)
    assert actual is not None
    assert (actual.streams, actual.cpu) == (2, 0.3)
    assert (actual.ttft_s, actual.ttft_p99_s) == pytest.approx((0.003, 0.00398))
    assert actual.itl_p99_ratio == pytest.approx(1.0)


def test_a_token_that_was_not_seen_is_no_measurement() -> None:
    assert _compared([record(0, tokens_at_s=(1.0, 1.1))], {0: [1.0, 1.1, 1.2]}, 0.0, 0.1, 0.1) is None


def test_the_real_one_and_nothing_of_it_is_left() -> None:
    """In a test runner of several processes this one may have children of its own: those of before count not."""

    def children() -> set[int]:
        return {child.pid for child in psutil.Process().children()}

    async def main() -> tuple[object, set[int]]:
        return await measure_client_error(8, 0.01), children()

    before = children()
    actual, after = run_in_loop(main())
    assert actual is not None
    assert after <= before


def test_a_client_that_is_late_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every read takes the clock 50 ms late: that is what the error is."""
    import moonpad.load.client_error as module

    true = module.time.perf_counter
    origin_of = {"calls": 0}

    class Late:
        perf_counter = staticmethod(lambda: true() + (0.05 if origin_of["calls"] else 0.0))
        process_time = staticmethod(module.time.process_time)

    async def main() -> float:
        actual = await measure_client_error(2, 0.01)
        assert actual is not None
        return actual.ttft_s

    on_time = run_in_loop(main())
    monkeypatch.setattr(module, "time", Late)
    origin_of["calls"] = 1
    assert run_in_loop(main()) - on_time > 0.03


def test_the_server_ends_with_its_client() -> None:
    process = subprocess.Popen(
        (sys.executable, "-m", "moonpad.load.reference_server"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert int(process.stdout.readline()) > 0
    process.stdin.close()
    assert process.wait(20) == 0
    process.stdout.close()
