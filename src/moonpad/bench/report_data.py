"""The folder of a run or of a sweep, read for its page; what a kill left of one is read too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import orjson

from moonpad.bench.document import number_at, value_at
from moonpad.bench.folder import DEVICES_FILE, REQUESTS_FILE, RESULT_FILE, RUN_FILE, SERVER_FILE
from moonpad.bench.knee import Knee, find_knee, level_of
from moonpad.bench.metrics import metrics_of
from moonpad.bench.request_data import RequestData, requests_of
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.resume import read_plan
from moonpad.bench.saved import read_document
from moonpad.bench.saved_records import SavedRecords
from moonpad.bench.server_watch import Sample, ServerSaid
from moonpad.bench.sweep import SWEEP_FILE
from moonpad.observe.metrics import Load
from moonpad.values.errors import UsageError

GAUGES: Final = ("running", "waiting", "kv_usage")
USES: Final = ("power_w", "busy")
MAKE_ONE: Final = "name a folder of moonpad bench --out"


@dataclass(frozen=True, slots=True)
class RunData:
    """`document` has the keys of `vllm bench serve`, ours under `moonpad`.

    config: of run.json, as JSON; None where the folder has none.
    requests: None where nobody kept them.
    samples: of the server, by time: `at_s` and those of `GAUGES` that it reports.
    devices: by time: `at_s`, `power_w` of all devices together and the mean of their `busy`, as far as they say it.
    killed: the run wrote no result; the document was computed from the requests that ended.
    """

    name: str
    document: Mapping[str, Any]
    config: Mapping[str, Any] | None
    requests: RequestData | None
    samples: tuple[Mapping[str, float], ...]
    killed: bool = False
    devices: tuple[Mapping[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """`document` is that of its run."""

    load: int
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SweepData:
    """`over`: "concurrency", or "requests" that come all at once. `cut`: the sweep did not come to its end."""

    name: str
    over: str
    points: tuple[SweepPoint, ...]
    knee: Knee | None
    cut: bool = False


def read_report(folder: Path) -> RunData | SweepData:
    """
    Raises:
        UsageError: the folder holds neither, or its files are not what they should be.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "is not there"
        raise UsageError(f"{folder} {what}", remedy=MAKE_ONE)
    try:
        if (folder / RESULT_FILE).exists() or (folder / REQUESTS_FILE).exists():
            return _run(folder)
        if (folder / SWEEP_FILE).exists():
            return _sweep(folder)
        if points := _points_of_folders(folder):
            return _judged(folder, points[0], points[1], cut=True)
    except OSError as error:
        raise UsageError(f"{error.filename or folder} cannot be read: {error.strerror}", remedy=MAKE_ONE) from error
    raise UsageError(f"{folder} holds neither a run nor a sweep", remedy=MAKE_ONE)


def _run(folder: Path) -> RunData:
    records = SavedRecords(folder / REQUESTS_FILE)
    killed = not (folder / RESULT_FILE).exists()
    samples, devices = _by_time(_samples(folder / SERVER_FILE)), _by_time(_uses(folder / DEVICES_FILE))
    try:
        document = _of_killed(folder, records) if killed else read_document(folder / RESULT_FILE)
        requests = requests_of(records) if len(records) else None
    except (TypeError, ValueError, ArithmeticError) as error:
        raise UsageError(f"{folder / REQUESTS_FILE} has a row that is no request: {error}", remedy=MAKE_ONE) from error
    return RunData(_name(folder), document, _config(folder), requests, samples, killed, devices)


def _of_killed(folder: Path, records: SavedRecords) -> dict[str, Any]:
    """What the run would have written, had it been interrupted; what only its process knew is not there."""
    plan = read_plan(folder)
    if not records:
        raise UsageError(f"{folder}: no request of this run has ended", remedy=f"moonpad bench --resume {folder}")
    duration_s = max(record.closed_s for record in records)
    result = BenchResult(
        config=plan.config,
        base_url=plan.base_url,
        model=plan.model,
        began="",
        calibration=plan.calibration,
        records=records,
        metrics=metrics_of(records, duration_s, plan.config.slo),
        client_cpu=0.0,
        partial=len(records) < plan.config.requests,
        workers=plan.config.workers,
        server=ServerSaid(list(_said(folder / SERVER_FILE))),
        planned=plan.planned,
    )
    document = as_json(result)
    ours = {**document["moonpad"], "client": None}
    return {**document, "date": None, "moonpad": ours}


def _config(folder: Path) -> Mapping[str, Any] | None:
    """It only says more: a folder without one, or with a broken one, has its page too."""
    try:
        found = orjson.loads((folder / RUN_FILE).read_bytes())["config"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, dict) else None


def _by_time(samples: Iterable[dict[str, float]]) -> tuple[Mapping[str, float], ...]:
    return tuple(sorted(samples, key=lambda sample: sample["at_s"]))


def _samples(file: Path) -> Iterator[dict[str, float]]:
    for row in _rows(file):
        found = {name: value for name in ("at_s", *GAUGES) if (value := number_at(row, name)) is not None}
        if "at_s" in found:
            yield found


def _said(file: Path) -> Iterator[Sample]:
    for row in _rows(file):
        known = {one.name: number_at(row, one.name) for one in fields(Load)}
        if (at_s := number_at(row, "at_s")) is not None:
            yield Sample(at_s, Load(**known))


def _uses(file: Path) -> Iterator[dict[str, float]]:
    for row in _rows(file):
        at_s, uses = number_at(row, "at_s"), value_at(row, "devices")
        if at_s is None or not isinstance(uses, list):
            continue
        powers, busy = ([value for use in uses if (value := number_at(use, name)) is not None] for name in USES)
        power = {"power_w": sum(powers)} if powers else {}
        yield {"at_s": at_s, **power, **({"busy": fmean(busy)} if busy else {})}


def _rows(file: Path) -> Iterator[object]:
    for line in file.read_bytes().splitlines() if file.exists() else ():
        with suppress(ValueError):  # torn by a kill
            yield orjson.loads(line)


def _sweep(folder: Path) -> SweepData:
    file = folder / SWEEP_FILE
    try:
        document = orjson.loads(file.read_bytes())
        over, rows = document["over"], document["points"]
        points = [SweepPoint(int(row["load"]), row) for row in rows]
        if not points or not isinstance(over, str):
            raise ValueError("it has no points")
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} is no sweep: {error}", remedy="moonpad bench --sweep … --out FOLDER") from error
    return _judged(folder, over, points)


def _points_of_folders(folder: Path) -> tuple[str, list[SweepPoint]] | None:
    """Of a sweep that was cut before it wrote its own file: the runs that are whole."""
    for over in ("concurrency", "requests"):
        found = [
            SweepPoint(int(load), read_document(place / RESULT_FILE))
            for place in sorted(folder.glob(f"{over}-*"))
            if (load := place.name.rpartition("-")[2]).isdecimal() and (place / RESULT_FILE).exists()
        ]
        if found:
            return over, found
    return None


def _judged(folder: Path, over: str, points: Sequence[SweepPoint], *, cut: bool = False) -> SweepData:
    for point in points:
        throughput = number_at(point.document, "output_throughput")
        if throughput is None or throughput < 0 or point.load < 1:
            raise UsageError(f"{folder}: load {point.load} has no output_throughput", remedy="measure it again")
    try:
        knee = find_knee([level_of(point.load, point.document) for point in points])
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{folder} holds a sweep that cannot be judged: {error}", remedy="measure it again") from error
    return SweepData(_name(folder), over, tuple(sorted(points, key=lambda point: point.load)), knee, cut)


def _name(folder: Path) -> str:
    return folder.resolve().name
