"""Goodput by hand: each limit alone, all together, and what has no such latency."""

from __future__ import annotations

import pytest

from moonpad.bench.config import Slo
from moonpad.bench.metrics import metrics_of
from moonpad.load.failure import FailureKind, RequestFailure
from tests.unit.bench.records import record

# TTFT 0.1, TPOT (0.7 - 0.1) / 2 = 0.3, E2EL 0.7; and TTFT 0.5, TPOT 0.1, E2EL 0.7
QUICK_TO_START = record(0, tokens_at_s=(0.1, 0.4, 0.7))
QUICK_TO_WRITE = record(1, tokens_at_s=(0.5, 0.6, 0.7))
ONE_TOKEN = record(2, tokens_at_s=(0.1,))
FAILED = record(3, tokens_at_s=(0.1, 0.2), failure=RequestFailure(FailureKind.STREAM_CUT, "cut"))


@pytest.mark.parametrize(
    ("slo", "good"),
    [
        (Slo(ttft_s=0.1), {0, 2}),
        (Slo(tpot_s=0.1), {1, 2}),
        (Slo(e2el_s=0.7), {0, 1, 2}),
        (Slo(e2el_s=0.69), {2}),
        (Slo(ttft_s=0.1, tpot_s=0.2), {2}),
        (Slo(ttft_s=0.5, tpot_s=0.31, e2el_s=0.7), {0, 1, 2}),
    ],
)
def test_by_hand(slo: Slo, good: set[int]) -> None:
    records = [QUICK_TO_START, QUICK_TO_WRITE, ONE_TOKEN, FAILED]
    assert {entry.index for entry in records if slo.keeps(entry)} == good
    metrics = metrics_of(records, 2.0, slo)
    assert (metrics.good, metrics.goodput) == (len(good), len(good) / 2)


def test_without_a_limit_there_is_no_goodput() -> None:
    metrics = metrics_of([QUICK_TO_START], 2.0)
    assert (metrics.good, metrics.goodput) == (None, None)
