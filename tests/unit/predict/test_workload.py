from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.predict.arrivals import draw_requests
from moonpad.values.workload import Lengths, Workload


def test_means_of_distributions() -> None:
    assert Lengths.fixed(100).mean == 100
    assert Lengths.uniform(80, 100).mean == 90
    assert Lengths.lognormal(400, 1.0).mean == pytest.approx(400, rel=0.01)
    assert Lengths.of([1, 2, 3]).mean == 2


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=200))
def test_samples_keep_their_ends_and_order(samples: list[int]) -> None:
    lengths = Lengths.of(samples)
    assert lengths.at(0) == min(samples)
    assert lengths.at(1) == pytest.approx(max(samples))
    assert min(samples) <= lengths.mean <= max(samples)


@given(st.integers(1, 400), st.integers(0, 99))
def test_drawn_lengths_have_the_workload_s_mean(count: int, seed: int) -> None:
    workload = Workload(Lengths.uniform(100, 1000), Lengths.fixed(7), concurrency=1, requests=count, seed=seed)
    requests = draw_requests(workload)
    assert len(requests) == count
    assert sum(requests.prompt) / count == pytest.approx(550, abs=900 / count + 1)
    assert set(requests.answer) == {7}


def test_arrivals_of_a_trace_are_its_own() -> None:
    workload = Workload(Lengths.fixed(9), Lengths.fixed(3), rate_per_s=2.0, arrivals_s=(5.0, 5.0, 6.5))
    assert draw_requests(workload).arrival_s == [0.0, 0.0, 1.5]
    with pytest.raises(ValueError, match="ascend"):
        Workload(Lengths.fixed(9), Lengths.fixed(3), rate_per_s=2.0, arrivals_s=(2.0, 1.0))
    with pytest.raises(ValueError, match="rate"):
        Workload(Lengths.fixed(9), Lengths.fixed(3), concurrency=1, arrivals_s=(1.0, 2.0))


def test_arrivals_have_the_rate() -> None:
    workload = Workload(Lengths.fixed(1), Lengths.fixed(1), rate_per_s=5.0, requests=1000)
    arrivals = draw_requests(workload).arrival_s
    assert arrivals == sorted(arrivals)
    assert 1000 / arrivals[-1] == pytest.approx(5.0, rel=0.1)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"concurrency": 0},
        {"rate_per_s": 0.0},
        {"concurrency": 1, "shared_prefix": 1.0},
        {"concurrency": 1, "acceptance": 1.5},
        {"concurrency": 1, "requests": 0},
    ],
)
def test_impossible_workloads_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Workload(Lengths.fixed(1), Lengths.fixed(1), **wrong)  # type: ignore[arg-type]


def test_a_length_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 token"):
        Lengths.fixed(0)
