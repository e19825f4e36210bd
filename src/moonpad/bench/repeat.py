"""The same measurement several times with different prompts, and how much the figures vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from moonpad.bench.config import BenchConfig
from moonpad.values.records import replace

REPEAT_FILE: Final = "repeat.json"
FIGURES: Final = (
    "request_throughput", "output_throughput", "total_token_throughput",
    *(f"{of}_{name}_ms" for name in ("ttft", "tpot", "itl", "e2el") for of in ("mean", "median", "p99")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FigureSpread:
    """One figure over all repeats; `apart` is the distance between the smallest and the largest, as a share of the
    median.
    """

    name: str
    median: float
    least: float
    most: float

    @property
    def apart(self) -> float | None:
        return (self.most - self.least) / self.median if self.median else None

    def as_json(self) -> dict[str, float | None]:
        return {"median": self.median, "min": self.least, "max": self.most, "apart": self.apart}


def config_of(config: BenchConfig, number: int) -> BenchConfig:
    """The configuration of repeat `number`, from 0. Each has its own seed, so that no prompt is in the prefix cache."""
    return replace(config, seed=config.seed + number, measure_client=config.measure_client and number == 0)


def spreads_of(documents: Sequence[Mapping[str, Any]]) -> list[FigureSpread]:
    """The figures that every repeat has."""
    spreads = []
    for name in FIGURES:
        values = [value for document in documents if isinstance(value := document.get(name), int | float)]
        if values and len(values) == len(documents):
            spreads.append(FigureSpread(name, median(values), min(values), max(values)))
    return spreads


def as_json(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "spread": {spread.name: spread.as_json() for spread in spreads_of(documents)},
        "repeats": [dict(document) for document in documents],
    }
