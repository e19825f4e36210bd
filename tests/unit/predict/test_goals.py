"""The choice by a goal, on figures that are made up: what is dominated, what misses a limit, and what is as good."""

from __future__ import annotations

import itertools

import pytest

from moonpad.predict.goals import LoadPoint, front_of, load_points, missed, usd_per_million_tokens, verdict
from moonpad.values.estimate import Estimate
from moonpad.values.prediction import Prediction, StepBreakdown
from moonpad.values.records import replace
from moonpad.values.workload import Lengths, Workload

LOAD = Workload(Lengths.fixed(100), Lengths.fixed(10), concurrency=8)


def made_up(per_user: float, per_device: float, *, spread: float = 1.1, ttft_s: float = 1.0) -> Prediction:
    def about(value: float) -> Estimate:
        return Estimate(value, value / spread, value * spread, "made up")

    tpot = about(1 / per_user)
    return Prediction(
        workload=LOAD,
        ttft_s=about(ttft_s),
        tpot_s=tpot,
        e2el_s=about(ttft_s + 9 / per_user),
        ttft_mean_s=about(ttft_s),
        ttft_p95_s=about(ttft_s),
        tpot_mean_s=tpot,
        tpot_p95_s=tpot,
        output_tokens_per_s=about(8 * per_device),
        total_tokens_per_s=about(88 * per_device),
        requests_per_s=about(0.8 * per_device),
        output_tokens_per_s_per_user=about(per_user),
        output_tokens_per_s_per_device=about(per_device),
        standing="interpolated",
        step=StepBreakdown(experts=1.0),
    )


def test_the_front_has_what_no_other_point_beats_in_both_figures() -> None:
    figures = [(50, 10), (40, 30), (40, 20), (30, 25), (20, 60), (10, 50), (10, 60)]
    points = [LoadPoint(plan, made_up(*pair)) for plan, pair in enumerate(figures)]
    front = {figures[point.plan] for point in front_of(points, {})}
    beaten = {
        low
        for low, high in itertools.permutations(figures, 2)
        if high[0] >= low[0] and high[1] >= low[1] and high != low
    }
    assert front == set(figures) - beaten


def test_the_front_leaves_out_what_misses_a_limit() -> None:
    points = [LoadPoint(0, made_up(50, 10)), LoadPoint(1, made_up(10, 90))]
    assert [point.plan for point in front_of(points, {"tpot_s": 0.05})] == [0]


def test_the_most_tokens_within_the_limits_come_first() -> None:
    predictions = {0: made_up(40, 10), 1: made_up(30, 30), 2: made_up(10, 90)}
    found = verdict(predictions, "throughput", {"tpot_s": 0.05}, dict.fromkeys(predictions, 0))
    assert found.order == (1, 0, 2)
    assert found.kept
    assert found.gain is not None
    assert found.gain.value == pytest.approx(2.0)
    assert found.gain.low > 0


def test_where_all_miss_a_limit_the_nearest_comes_first() -> None:
    predictions = {0: made_up(10, 90), 1: made_up(15, 30)}
    found = verdict(predictions, "throughput", {"tpot_s": 0.05}, {0: 0, 1: 0})
    assert found.order == (1, 0)
    assert not found.kept


def test_as_good_as_the_best_is_decided_by_the_documented_order() -> None:
    predictions = {0: made_up(30, 99), 1: made_up(30, 100), 2: made_up(30, 90)}
    found = verdict(predictions, "throughput", {}, dict.fromkeys(predictions, 0))
    assert found.order == (0, 1, 2)
    assert found.gain is not None
    assert found.gain.low < 0


def test_a_plan_that_may_not_fit_comes_last() -> None:
    found = verdict({0: made_up(10, 10), 1: made_up(90, 90)}, "latency", {}, {0: 0, 1: 1})
    assert found.order == (0, 1)


def test_regret_grows_with_the_ranges() -> None:
    def regret(spread: float) -> float:
        predictions = {0: made_up(30, 100, spread=spread), 1: made_up(30, 95, spread=spread)}
        return verdict(predictions, "throughput", {}, {0: 0, 1: 0}).regret

    assert regret(1.0) == 0
    # Two independent ranges of 10 %: 0.95 · exp(√2 · ln 1.1) - 1.
    assert regret(1.1) == pytest.approx(0.95 * 1.1**2**0.5 - 1)
    assert regret(1.3) > regret(1.1)


def test_an_open_loop_that_is_not_kept_up_with_misses() -> None:
    assert missed(replace(made_up(30, 30), saturated=True), {}) > 1


def test_growing_loads_end_where_more_clients_only_wait() -> None:
    def predict(workload: Workload) -> Prediction:
        clients = workload.concurrency or 0
        return replace(made_up(30, float(min(clients, 8))), workload=workload)

    points = load_points([(0, predict)], LOAD)
    assert [point.prediction.workload.concurrency for point in points] == [1, 2, 4, 8, 16]


def test_price_of_a_million_tokens() -> None:
    # 8 devices at 3 USD an hour give 800 tokens a second: 24 USD for 2.88 million tokens.
    assert usd_per_million_tokens(made_up(30, 100), 8, 3.0).value == pytest.approx(24 / 2.88)
