"""Two runs beside each other: each figure's ratio, how sure it is, and what part of a gain is longer answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from moonpad.bench.saved import SavedRequest, SavedRun, throughput_slices
from moonpad.stats.bootstrap import CONFIDENCE, Quantile, Ratio, Statistic, ratios_of

SAME_LENGTH: Final = 0.05
"""Answers whose mean lengths differ by more are other answers: their throughputs are not one figure's two values."""


STATISTICS: Final[dict[str, Statistic]] = {"mean": fmean, "median": Quantile(0.5), "p99": Quantile(0.99)}
LATENCIES: Final[dict[str, Callable[[SavedRequest], float | None]]] = {
    "ttft": lambda one: one.ttft_s,
    "tpot": lambda one: one.tpot_s,
    "e2el": lambda one: one.e2el_s,
}
QUESTIONS: Final = len(LATENCIES) * len(STATISTICS) + 1
"""Ratios with intervals of one table; the one more is the output throughput's."""
P99_REQUESTS: Final = Quantile(0.99).fewest((1 - CONFIDENCE) / (2 * QUESTIONS))
"""In each run: of fewer nothing says how sure the ratio of two P99 is."""
THROUGHPUTS: Final = ("request_throughput", "output_throughput", "total_token_throughput")
"""Higher is better, and longer answers move them by themselves."""


@dataclass(frozen=True, slots=True)
class Row:
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
        """`better`, `worse`, `no difference shown`, or `unknown` where there is nothing to say how sure it is."""
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
    rows: tuple[Row, ...]
    paired: int
    tokens: tuple[float | None, float | None]
    partial: tuple[str, ...] = ()

    @property
    def tokens_ratio(self) -> float | None:
        one, other = self.tokens
        return other / one if one and other else None

    @property
    def same_length(self) -> bool:
        """Whether throughputs may be compared; where nobody counted tokens, it is not said that they may not."""
        return self.tokens_ratio is None or abs(self.tokens_ratio - 1) <= SAME_LENGTH

    def row(self, name: str) -> Row | None:
        return next((row for row in self.rows if row.name == name), None)

    @property
    def split(self) -> tuple[float, float] | None:
        """The ratio of output_throughput as answers a second times tokens an answer."""
        whole = self.row("output_throughput")
        if whole is None or self.tokens_ratio is None:
            return None
        return whole.ratio.value / self.tokens_ratio, self.tokens_ratio

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
    """Every figure that both have. All intervals hold together with the confidence that is said."""
    pairs = _pairs(first, second)
    kept = bool(first.requests and second.requests)
    found = _sampled(first, second, pairs, seed) if kept else {}
    latencies = [f"{statistic}_{name}_ms" for name in (*LATENCIES, "itl") for statistic in STATISTICS]
    rows = []
    for name in (*THROUGHPUTS, *latencies):
        one, other = first.figure(name), second.figure(name)
        if not one or other is None or other <= 0:
            continue
        rows.append(Row(name, one, other, _around(other / one, found.get(name)), name in THROUGHPUTS))
    lengths = (first.tokens_an_answer, second.tokens_an_answer)
    cut = tuple(run.name for run in (first, second) if run.partial)
    return Comparison(first.name, second.name, tuple(rows), len(pairs), lengths, cut)


def _around(value: float, sampled: Ratio | None) -> Ratio:
    """The ratio of the two figures, as sure as the one of the samples behind them."""
    if sampled is None or sampled.low is None or sampled.high is None:
        return Ratio(value)
    return Ratio(value, value * sampled.low / sampled.value, value * sampled.high / sampled.value)


def _pairs(first: SavedRun, second: SavedRun) -> list[tuple[SavedRequest, SavedRequest]]:
    """The same requests of both; none where they are not known to be the same."""
    if first.same_as is None or first.same_as != second.same_as:
        return []
    others = {one.index: one for one in second.requests}
    return [(one, others[one.index]) for one in first.requests if one.index in others]


def _sampled(
    first: SavedRun, second: SavedRun, pairs: Sequence[tuple[SavedRequest, SavedRequest]], seed: int
) -> dict[str, Ratio]:
    """The ratios of the samples that are behind figures, with their intervals, by the figures' names."""
    slices = throughput_slices(first), throughput_slices(second)
    found = ratios_of(*slices, {"output_throughput": fmean}, questions=QUESTIONS, seed=seed)
    for name, value_of in LATENCIES.items():
        statistics = {f"{statistic}_{name}_ms": of for statistic, of in STATISTICS.items()}
        both = [(value_of(one), value_of(other)) for one, other in pairs]
        known = [(one, other) for one, other in both if one is not None and other is not None]
        paired = bool(known) and len(known) >= min(len(first.requests), len(second.requests)) * 0.9
        if paired:
            ones, others = [one for one, _ in known], [other for _, other in known]
        else:
            ones, others = _values(first, value_of), _values(second, value_of)
        found |= ratios_of(ones, others, statistics, paired=paired, questions=QUESTIONS, seed=seed)
    return found


def _values(run: SavedRun, value_of: Callable[[SavedRequest], float | None]) -> list[float]:
    return [value for one in run.requests if (value := value_of(one)) is not None]
