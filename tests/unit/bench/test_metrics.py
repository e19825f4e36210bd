import pytest

from moonpad.bench.metrics import metrics_of
from moonpad.load.failure import FailureKind, RequestFailure
from tests.unit.bench.records import record

REFUSED = RequestFailure(FailureKind.HTTP_STATUS, "slow down", 429)


def test_figures_of_two_requests_by_hand() -> None:
    metrics = metrics_of(
        [
            record(0, tokens_at_s=(0.1, 0.3, 0.7), ended_s=0.8, output_tokens=5),
            record(1, scheduled_s=1.0, tokens_at_s=(1.4, 1.5), output_tokens=2, prompt_tokens=13),
        ],
        duration_s=2.0,
    )
    assert (metrics.completed, metrics.input_tokens, metrics.output_tokens) == (2, 24, 7)
    assert (metrics.request_throughput, metrics.output_throughput, metrics.total_throughput) == (1.0, 3.5, 15.5)
    assert metrics.ttft_s is not None
    assert metrics.ttft_s.mean == pytest.approx((0.1 + 0.4) / 2)
    assert metrics.tpot_s is not None
    assert metrics.tpot_s.mean == pytest.approx(((0.8 - 0.1) / 4 + (1.5 - 1.4) / 1) / 2)
    assert metrics.itl_s is not None
    assert (metrics.itl_s.count, metrics.itl_s.mean) == (3, pytest.approx((0.2 + 0.4 + 0.1) / 3))
    assert metrics.e2el_s is not None
    assert metrics.e2el_s.mean == pytest.approx((0.8 + 0.5) / 2)


def test_failures_are_counted_and_are_in_no_other_figure() -> None:
    good = [record(0), record(1)]
    failed = [
        record(2, tokens_at_s=(500.0, 900.0), failure=RequestFailure(FailureKind.STREAM_CUT, "cut")),
        record(3, tokens_at_s=(), failure=REFUSED),
        record(4, tokens_at_s=(), failure=REFUSED),
    ]
    clean, mixed = metrics_of(good, 10.0), metrics_of(good + failed, 10.0)
    assert mixed.failures == {"http-429": 2, "stream-cut": 1}
    assert (mixed.failed, mixed.failed_output_chunks) == (3, 2)
    for name in (
        "completed",
        "output_tokens",
        "ttft_s",
        "tpot_s",
        "itl_s",
        "e2el_s",
        "peak_output_throughput",
        "peak_concurrency",
    ):
        assert getattr(mixed, name) == getattr(clean, name)


def test_one_token_has_a_ttft_and_no_tpot_or_itl() -> None:
    metrics = metrics_of([record(tokens_at_s=(0.5,))], 1.0)
    assert (metrics.tpot_s, metrics.itl_s) == (None, None)
    assert metrics.ttft_s is not None


def test_nothing_succeeded() -> None:
    metrics = metrics_of([record(tokens_at_s=(), failure=REFUSED)], 1.0)
    assert (metrics.completed, metrics.output_throughput, metrics.peak_concurrency) == (0, 0.0, 0)
    assert (metrics.ttft_s, metrics.e2el_s) == (None, None)


def test_peaks_count_in_whole_seconds_from_the_first_request() -> None:
    """The buckets of `vllm bench serve`: [0.5, 1.5) holds four chunks, [1.5, 2.5) two; all three overlap the first."""
    metrics = metrics_of(
        [
            record(0, scheduled_s=0.5, tokens_at_s=(0.6, 1.4, 1.6)),
            record(1, scheduled_s=1.0, tokens_at_s=(1.1, 2.4)),
            record(2, scheduled_s=1.3, tokens_at_s=(1.45,)),
        ],
        3.0,
    )
    assert (metrics.peak_output_throughput, metrics.peak_concurrency) == (4.0, 3)


def test_input_without_usage_is_what_was_asked_for() -> None:
    metrics = metrics_of([record(prompt_tokens=None), record(1)], 1.0)
    assert (metrics.input_tokens, metrics.input_tokens_counted) == (21, 1)


def test_a_usage_below_the_chunks_is_told() -> None:
    assert metrics_of([record(output_tokens=2), record(1, output_tokens=3)], 1.0).usage_below_chunks == 1
