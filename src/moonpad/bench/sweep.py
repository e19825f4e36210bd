"""A row of runs at growing load, each in a folder of its own, so that what was measured is not measured again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from moonpad.bench.config import BenchConfig
from moonpad.bench.folder import RESULT_FILE
from moonpad.bench.knee import Knee, find_knee, level_of
from moonpad.values.errors import UsageError

EXAMPLE: Final = "--sweep concurrency=1,2,4,8,16,32 --requests-per-stream 10, or --sweep requests=1,16,32"


@dataclass(frozen=True, slots=True)
class Sweep:
    """`concurrency`: so many users, each with so many requests. `requests`: so many requests, all at once."""

    over: Literal["concurrency", "requests"]
    loads: tuple[int, ...]
    requests_per_stream: int = 10

    def config_at(self, config: BenchConfig, load: int) -> BenchConfig:
        count = load * self.requests_per_stream if self.over == "concurrency" else load
        return replace(config, concurrency=load, requests=count, arrivals=None)

    def folder_at(self, folder: Path, load: int) -> Path:
        return folder / f"{self.over}-{load}"


@dataclass(frozen=True, slots=True)
class Point:
    """`document` has the keys of `vllm bench serve`; `read`: it was measured before."""

    load: int
    document: dict[str, Any]
    read: bool


@dataclass(frozen=True, slots=True)
class SweepResult:
    sweep: Sweep
    points: tuple[Point, ...]

    @property
    def knee(self) -> Knee | None:
        return find_knee([level_of(point.load, point.document) for point in self.points])

    def as_json(self) -> dict[str, Any]:
        knee = self.knee
        return {
            "over": self.sweep.over,
            "points": [{"load": point.load, **point.document} for point in self.points],
            "knee": knee.as_json() if knee else None,
        }


def parse_sweep(text: str, requests_per_stream: int) -> Sweep:
    """
    Raises:
        UsageError: it is no sweep.
    """
    over, _, values = text.partition("=")
    parts = values.split(",")
    loads = tuple(sorted({int(part) for part in parts if part.strip().isdecimal() and int(part) >= 1}))
    right = loads and len(loads) == len(parts) and requests_per_stream >= 1
    if right and over == "concurrency":
        return Sweep("concurrency", loads, requests_per_stream)
    if right and over == "requests":
        return Sweep("requests", loads, requests_per_stream)
    raise UsageError(f"--sweep {text!r} is no row of loads", remedy=EXAMPLE)


def run_sweep(
    sweep: Sweep, config: BenchConfig, folder: Path, measure: Callable[[BenchConfig, Path], dict[str, Any]]
) -> Iterator[Point]:
    """The points as they come. `measure` writes a run into its folder and gives its result.

    A point whose result is there, whole and of the same requests, is read. What a killed run left is kept beside it.
    """
    for load in sweep.loads:
        wanted, place = sweep.config_at(config, load), sweep.folder_at(folder, load)
        if (document := _whole(place, wanted)) is not None:
            yield Point(load, document, read=True)
            continue
        _put_aside(place)
        yield Point(load, measure(wanted, place), read=False)


def _whole(place: Path, wanted: BenchConfig) -> dict[str, Any] | None:
    try:
        document = orjson.loads((place / RESULT_FILE).read_bytes())
        ours = document["moonpad"]
        asked = (document["num_prompts"], document["max_concurrency"], ours["seed"], ours["partial"])
        lengths = (ours["input_tokens"]["requested"], ours["output_tokens"]["requested"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    same = asked == (wanted.requests, wanted.concurrency, wanted.seed, False)
    return document if same and lengths == (wanted.said_input, wanted.said_output) else None


def _put_aside(place: Path) -> None:
    if not place.exists():
        return
    number = next(
        number for number in range(1, 10_000) if not place.with_name(f"{place.name}.before-{number}").exists()
    )
    place.rename(place.with_name(f"{place.name}.before-{number}"))
