"""Runs at growing load, each in its own folder, so that a sweep can be resumed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from moonpad.bench.config import BenchConfig
from moonpad.bench.knee import Knee, find_knee, level_of
from moonpad.bench.run_files import RESULT_FILE
from moonpad.bench.run_header import read_plan
from moonpad.spec.json_input import read_json_file
from moonpad.values.errors import UsageError
from moonpad.values.records import as_dict, replace
from moonpad.values.redaction import redact

SWEEP_FILE: Final = "sweep.json"
_LOAD: Final = re.compile(r" *0*[1-9][0-9]{0,6} *")
EXAMPLE: Final = "--sweep concurrency=1,2,4,8,16,32 --requests-per-stream 10, or --sweep requests=1,16,32"


@dataclass(frozen=True, slots=True)
class Sweep:
    """`concurrency`: so many users, each with so many requests. `requests`: so many requests, all at once."""

    over: Literal["concurrency", "requests"]
    loads: tuple[int, ...]
    requests_per_stream: int = 10

    def config_at(self, config: BenchConfig, load: int) -> BenchConfig:
        requests = load * self.requests_per_stream if self.over == "concurrency" else load
        return replace(config, concurrency=load, requests=requests, arrivals=None)

    def folder_at(self, folder: Path, load: int) -> Path:
        return folder / f"{self.over}-{load}"


@dataclass(frozen=True, slots=True)
class Point:
    """`document` has the keys of `vllm bench serve`; `read`: it was measured before."""

    load: int
    document: Mapping[str, Any]
    read: bool = True


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
            "knee": as_dict(knee) if knee else None,
        }


def parse_sweep(text: str, requests_per_stream: int) -> Sweep:
    """
    Raises:
        UsageError: the text is not a list of loads.
    """
    over, _, values = text.partition("=")
    parts = values.split(",")
    loads = tuple(sorted({int(part) for part in parts if _LOAD.fullmatch(part)}))
    if not loads or len(loads) != len(parts) or requests_per_stream < 1 or over not in ("concurrency", "requests"):
        raise UsageError(f"--sweep {text[:60]!r} is not a list of loads", remedy=EXAMPLE)
    return Sweep("concurrency" if over == "concurrency" else "requests", loads, requests_per_stream)


class Measure(Protocol):
    """Writes a run into a folder, where there is one, and gives its result; `resume`: continues the run there."""

    def __call__(self, config: BenchConfig, place: Path | None, *, resume: bool) -> dict[str, Any]: ...


def run_sweep(
    sweep: Sweep, config: BenchConfig, base_url: str, folder: Path | None, measure: Measure
) -> Iterator[Point]:
    """The points as they come.

    A point with a complete result of the same configuration and endpoint is read; one that was interrupted is resumed;
    a run of another configuration is moved aside. Without a folder all are measured.
    """
    for load in sweep.loads:
        wanted = sweep.config_at(config, load)
        if folder is None:
            yield Point(load, measure(wanted, None, resume=False), read=False)
            continue
        place = sweep.folder_at(folder, load)
        same = _is_of(place, wanted, base_url)
        if same and (document := _whole(place)) is not None:
            yield Point(load, document, read=True)
            continue
        if not same:
            _put_aside(place)
        yield Point(load, measure(wanted, place, resume=same), read=False)


def _is_of(place: Path, wanted: BenchConfig, base_url: str) -> bool:
    """Whether the folder holds a run of the same configuration; `measure_client` may differ."""
    try:
        plan = read_plan(place)
    except UsageError:
        return False
    return plan.base_url == redact(base_url) and replace(plan.config, measure_client=wanted.measure_client) == wanted


def _whole(place: Path) -> dict[str, Any] | None:
    try:
        document: dict[str, Any] = read_json_file(place / RESULT_FILE)
        return None if document["moonpad"]["partial"] else document
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _put_aside(place: Path) -> None:
    if place.exists():
        names = (place.with_name(f"{place.name}.before-{number}") for number in count(1))
        place.rename(next(name for name in names if not name.exists()))
