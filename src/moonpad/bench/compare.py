"""Two runs compared: each figure's ratio, its interval, and how much of a gain is only longer answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import fmean
from typing import Any, Final

from moonpad.bench.saved_results import SavedRequest, SavedRun, throughput_slices
from moonpad.stats.bootstrap import CONFIDENCE, Quantile, Ratio, Statistic, ratios_of

SAME_LENGTH: Final = 0.05
"""Where mean answer lengths differ by more than this share, token throughputs are not comparable."""


STATISTICS: Final[dict[str, Statistic]] = {"mean": fmean, "median": Quantile(0.5), "p99": Quantile(0.99)}
LATENCIES: Final = ("ttft", "tpot", "e2el")
QUESTIONS: Final = len(LATENCIES) * len(STATISTICS) + 1
"""Ratios with intervals of one table; the one more is the output throughput's."""
P99_REQUESTS: Final = Quantile(0.99).fewest((1 - CONFIDENCE) / (2 * QUESTIONS))
"""In each run: with fewer, the ratio of two P99 has no interval."""
THROUGHPUTS: Final = ("request_throughput", "output_throughput", "total_token_throughput")
"""Higher is better, and longer answers move them by themselves."""


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One figure by the name of `vllm bench serve`. `ratio` is second / first."""

    name: str
    first: float
    second: float
    ratio: Ratio
    higher_is_better: bool

    @property
    def gain(self) -> float:
        """How much better the second is, as a share: 0.431 of 43.1 %; below 0 it is worse."""
        return self.ratio.value - 1 if self.higher_is_better else 1 - self.ratio.value

    @property
    def verdict(self) -> str:
        """`better`, `worse`, `no difference shown`, or `unknown` without an interval."""
        if self.ratio.differs is None:
            return "unknown"
        if not self.ratio.differs:
            return "no difference shown"
        return "better" if self.gain > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`paired`: how many requests are the same in both; 0 where they are not. `tokens_ratio`: of an answer, or None.
    `partial`: the names of the runs that were interrupted."""

    first: str
    second: str
    rows: tuple[ComparedFigure, ...]
    paired: int
    tokens: tuple[float | None, float | None]
    partial: tuple[str, ...] = ()

    @property
    def tokens_ratio(self) -> float | None:
        first, second = self.tokens
        return second / first if first and second else None

    @property
    def same_length(self) -> bool:
        """Whether token throughputs may be compared; also where nothing counted the tokens."""
        return self.tokens_ratio is None or abs(self.tokens_ratio - 1) <= SAME_LENGTH

    def row(self, name: str) -> ComparedFigure | None:
        return next((row for row in self.rows if row.name == name), None)

    @property
    def split(self) -> tuple[float, float] | None:
        """The ratio of output_throughput as answers a second times tokens an answer."""
        throughput = self.row("output_throughput")
        if throughput is None or self.tokens_ratio is None:
            return None
        return throughput.ratio.value / self.tokens_ratio, self.tokens_ratio

    def as_json(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "confidence": CONFIDENCE,
            "paired_requests": self.paired,
            "tokens_an_answer": list(self.tokens),
            "same_length": self.same_length,
            "partial": list(self.partial),
            "rows": [
                {
                    "name": row.name,
                    "first": row.first,
                    "second": row.second,
                    "ratio": row.ratio.value,
                    "low": row.ratio.low,
                    "high": row.ratio.high,
                    "gain": row.gain,
                    "verdict": row.verdict,
                }
                for row in self.rows
            ],
        }


def compare(first: SavedRun, second: SavedRun, *, seed: int = 0) -> Comparison:
    """Every figure that both have. All intervals hold together with `CONFIDENCE`."""
    pairs = _pairs(first, second)
    ratios = _sampled(first, second, pairs, seed) if first.requests and second.requests else {}
    latencies = [f"{statistic}_{name}_ms" for name in (*LATENCIES, "itl") for statistic in STATISTICS]
    rows = []
    for name in (*THROUGHPUTS, *latencies):
        before, after = first.figure(name), second.figure(name)
        if before and after is not None and after > 0:
            ratio = _around(after / before, ratios.get(name))
            rows.append(ComparedFigure(name, before, after, ratio, name in THROUGHPUTS))
    lengths = (first.tokens_an_answer, second.tokens_an_answer)
    partial = tuple(run.name for run in (first, second) if run.partial)
    return Comparison(first.name, second.name, tuple(rows), len(pairs), lengths, partial)


def _around(value: float, sampled: Ratio | None) -> Ratio:
    """The ratio of the two figures, with the relative interval of the samples behind them."""
    if sampled is None or sampled.low is None or sampled.high is None:
        return Ratio(value)
    return Ratio(value, value * sampled.low / sampled.value, value * sampled.high / sampled.value)


def _pairs(first: SavedRun, second: SavedRun) -> list[tuple[SavedRequest, SavedRequest]]:
    """The requests that both runs sent; none where that is not known."""
    if first.same_as is None or first.same_as != second.same_as:
        return []
    others = {request.index: request for request in second.requests}
    return [(request, others[request.index]) for request in first.requests if request.index in others]


def _sampled(
    first: SavedRun, second: SavedRun, pairs: Sequence[tuple[SavedRequest, SavedRequest]], seed: int
) -> dict[str, Ratio]:
    """The ratios of the samples that are behind figures, with their intervals, by the figures' names."""
    slices = throughput_slices(first), throughput_slices(second)
    ratios = ratios_of(*slices, {"output_throughput": fmean}, questions=QUESTIONS, seed=seed)
    for name in LATENCIES:
        statistics = {f"{statistic}_{name}_ms": of for statistic, of in STATISTICS.items()}
        value_of: Callable[[SavedRequest], float | None] = attrgetter(f"{name}_s")
        both = [(value_of(request), value_of(other)) for request, other in pairs]
        values = [(before, after) for before, after in both if before is not None and after is not None]
        paired = bool(values) and len(values) >= min(len(first.requests), len(second.requests)) * 0.9
        if paired:
            sample, other_sample = ([value[at] for value in values] for at in (0, 1))
        else:
            sample, other_sample = (
                [value for value in map(value_of, run.requests) if value is not None] for run in (first, second)
            )
        ratios |= ratios_of(sample, other_sample, statistics, paired=paired, questions=QUESTIONS, seed=seed)
    return ratios
