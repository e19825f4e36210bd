"""Quantiles from the buckets of `/metrics`: by hand, against Prometheus' own rule, and never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.engines import ENGINES
from moonpad.observe.histograms import Histogram, Quantile, read_histograms

NAMES = ENGINES["vllm"].metrics.times
INF = float("inf")


def text(*ranks: tuple[float, ...]) -> bytes:
    """The counts up to 0.1 s, 1 s and all of each rank, as vLLM writes them."""
    lines = ["# TYPE vllm:time_to_first_token_seconds histogram"]
    for rank, counts in enumerate(ranks):
        for bound, count in zip(("0.1", "1.0", "+Inf"), counts, strict=True):
            labels = f'engine="{rank}",le="{bound}",model_name="k, le=\\"7\\""'
            lines.append(f"vllm:time_to_first_token_seconds_bucket{{{labels}}} {count}")
    return ("\n".join(lines) + "\n").encode()


def test_ranks_are_summed() -> None:
    (histogram,) = read_histograms(text((1, 3, 4), (0, 5, 6)), NAMES).values()
    assert histogram == Histogram((0.1, 1.0, INF), (1, 8, 10))


def test_quantiles_by_hand() -> None:
    histogram = Histogram((0.1, 1.0, INF), (2, 8, 10))
    assert histogram.quantile(0.1) == Quantile(0.05, 0.0, 0.1), "the first of two in the bucket from 0"
    assert histogram.quantile(0.5) == Quantile(pytest.approx(0.55), 0.1, 1.0), "half of the six in the second"
    assert histogram.quantile(0.99) == Quantile(1.0, 1.0, None), "above the last bound"
    assert Histogram((0.1, INF), (0, 0)).quantile(0.5) is None


def test_between_two_looks() -> None:
    before, after = Histogram((1.0, INF), (3, 4)), Histogram((1.0, INF), (3, 9))
    assert after.since(before) == Histogram((1.0, INF), (0, 5))
    assert before.since(after) is before, "the engine was started again"
    assert after.since(Histogram((2.0, INF), (1, 1))) is after, "another release"
    assert after.since(None) is after


@given(st.lists(st.floats(0.001, 9.9), min_size=1, max_size=50), st.sampled_from((0.5, 0.9, 0.99)))
def test_the_value_lies_in_the_bucket(samples: list[float], share: float) -> None:
    """The oracle sorts the samples themselves."""
    bounds = (0.1, 0.5, 1.0, 5.0, 10.0, INF)
    histogram = Histogram(bounds, tuple(sum(sample <= bound for sample in samples) for bound in bounds))
    true_s = sorted(samples)[max(0, -int(-share * len(samples) // 1) - 1)]  # the smallest that `share` of them reach
    quantile = histogram.quantile(share)
    assert quantile is not None
    assert quantile.high_s is not None
    assert quantile.low_s <= true_s <= quantile.high_s
    assert quantile.low_s <= quantile.value_s <= quantile.high_s


@pytest.mark.parametrize(
    "body",
    [
        b"",
        text((1, 3, 4))[:-2],
        text((3, 1, 4)),
        text((1, 2, float("nan"))),
        text((1, 2, 9e99)),
        text((1, 3, 4)).replace(b"+Inf", b"2.0"),
        text((1, 3, 4)).replace(b'le="0.1"', b'le="x"'),
        text((1, 3, 4)).replace(b'le="0.1",', b""),
        text((1, 3, 4)).replace(b"} 3", b"} many"),
        b"vllm:time_to_first_token_seconds_bucket{\xff} 1\n",
        text((1, 3, 4)) * 3000,
        b"x" * (5 << 20) + b"\n",
    ],
)  # fmt: skip
def test_what_cannot_be_read(body: bytes) -> None:
    assert read_histograms(body, NAMES) == {}


@given(st.binary(max_size=200))
def test_never_raises(body: bytes) -> None:
    read_histograms(b"vllm:time_to_first_token_seconds_bucket{le=" + body + b"\n", NAMES)
