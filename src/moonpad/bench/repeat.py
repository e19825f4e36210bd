"""The same measurement several times, each with prompts of its own, and how far the figures lie apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Final

from moonpad.bench.config import BenchConfig
from moonpad.values.errors import UsageError

REPEAT_FILE: Final = "repeat.json"
FIGURES: Final = (
    "request_throughput", "output_throughput", "total_token_throughput",
    *(f"{of}_{name}_ms" for name in ("ttft", "tpot", "itl", "e2el") for of in ("mean", "median", "p99")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spread:
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
    """Of repeat `number`, from 0: another seed, or a cache would know the prompts of the one before."""
    return replace(config, seed=config.seed + number, measure_client=config.measure_client and number == 0)


def check_repeats(count: int) -> None:
    """
    Raises:
        UsageError: fewer than two are none.
    """
    if count < 2:
        raise UsageError(f"--repeat is {count}", remedy="give 2 or more")


def spreads(documents: Sequence[Mapping[str, Any]]) -> list[Spread]:
    """The figures that every repeat has."""
    found = []
    for name in FIGURES:
        values = [value for document in documents if isinstance(value := document.get(name), int | float)]
        if values and len(values) == len(documents):
            found.append(Spread(name, median(values), min(values), max(values)))
    return found


def as_json(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "spread": {spread.name: spread.as_json() for spread in spreads(documents)},
        "repeats": [dict(document) for document in documents],
    }
