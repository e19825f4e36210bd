"""What a load is worth, how sure that is, and when it is hopeless."""

from __future__ import annotations

import pytest

from moonpad.bench.config import Slo
from moonpad.stats.bootstrap import Ratio
from moonpad.tune.load import TuneLoad, lengths_of, requests_for
from moonpad.tune.worth import (
    Ended,
    best_possible,
    is_hopeless,
    ratio_of_runs,
    samples_of,
    widened,
    worth_of,
)
from moonpad.values.workload import Lengths, Workload


def requests(count: int, each_s: float, tokens: int = 10, good: bool = True) -> list[Ended]:
    """One after the other."""
    return [Ended(at * each_s, (at + 1) * each_s, tokens, True, good) for at in range(count)]


def test_with_limits_good_requests_count_else_tokens() -> None:
    rows = [*requests(3, 1.0), Ended(3.0, 4.0, 10, True, False), Ended(4.0, 5.0, 10, False, False)]
    assert worth_of(rows, 5.0, "throughput", limits=True) == pytest.approx(3 / 5)
    assert worth_of(rows, 5.0, "throughput", limits=False) == pytest.approx(40 / 5)
    assert worth_of(rows, 5.0, "latency", limits=False) == pytest.approx(1.0)
    assert worth_of([], 0.0, "throughput", limits=True) == 0.0


def test_samples_add_up_to_the_worth() -> None:
    rows = requests(40, 0.5)
    samples = samples_of(rows, 20.0, "throughput", limits=False)
    assert len(samples) == 20
    assert sum(samples) / 20 == pytest.approx(worth_of(rows, 20.0, "throughput", limits=False), rel=0.03)


def test_a_run_is_hopeless_only_where_nothing_can_save_it() -> None:
    slow = requests(16, 2.0)
    assert is_hopeless(slow, 32.0, 64, "throughput", 2.0, limits=True)
    most = best_possible(slow, 32.0, 64, "throughput", limits=True)
    assert most is not None
    assert most > worth_of(slow, 32.0, "throughput", limits=True)
    assert not is_hopeless(slow, 32.0, 64, "throughput", most, limits=True)


def test_it_is_too_early_to_say() -> None:
    assert best_possible(requests(3, 2.0), 6.0, 64, "throughput", limits=True) is None  # too few
    assert best_possible(requests(16, 0.1), 1.6, 64, "throughput", limits=True) is None  # too soon
    assert not is_hopeless(requests(16, 2.0), 32.0, 64, "throughput", 0.0, limits=True)  # nothing to compare with


def test_latency_is_hopeless_by_the_median() -> None:
    assert is_hopeless(requests(40, 2.0), 80.0, 64, "latency", 1.0, limits=False)
    assert not is_hopeless(requests(20, 2.0), 40.0, 64, "latency", 1.0, limits=False)


def test_six_pairs_of_runs_give_an_interval_and_fewer_none() -> None:
    ratio = ratio_of_runs([10, 10.1, 9.9, 10, 10.05, 9.95], [12, 12.1, 11.9, 12, 12.05, 11.95])
    assert ratio is not None
    assert ratio.low is not None
    assert 1.1 < ratio.low < 1.2 < (ratio.high or 0.0) < 1.3
    few = ratio_of_runs([10, 10], [12, 12])
    assert few is not None
    assert few.low is None
    assert ratio_of_runs([0, 0], [1, 1]) is None


def test_an_interval_is_no_narrower_than_the_default_is_apart() -> None:
    ratio = widened(Ratio(1.1, 1.09, 1.11), [9.0, 10.0, 11.0])
    assert ratio.low is not None
    assert ratio.low < 0.95
    assert widened(Ratio(1.1, 1.09, 1.11), [9.0, 11.0]) == Ratio(1.1, 1.09, 1.11)


def test_the_load_is_sent_as_it_is_predicted() -> None:
    workload = Workload(Lengths.uniform(100, 300), Lengths.fixed(32), concurrency=16, shared_prefix=0.5)
    config = TuneLoad(workload, "x", "throughput", Slo(ttft_s=1.0), 64).bench(32, 7)
    drawn = config.input_lengths.draw(2000, 1, "input")
    assert 50 <= min(drawn) <= max(drawn) <= 150
    assert sum(drawn) / len(drawn) + config.workload.prefix_tokens == pytest.approx(200, rel=0.03)
    assert (config.output_tokens, config.concurrency, config.requests, config.seed) == (32, 16, 32, 7)
    assert config.workload.prefix_tokens == 100
    assert config.ignore_eos
    assert lengths_of(Lengths.fixed(32)) == 32
    assert requests_for(16) == 128


def test_a_rate_is_an_open_loop() -> None:
    workload = Workload(Lengths.fixed(100), Lengths.fixed(32), rate_per_s=3.5)
    load = TuneLoad(workload, "100:32", "throughput", Slo(), 64)
    assert load.bench(32, 0).paced
    assert load.users == 4
    assert load.words == "100:32, 3.5 requests/s"
