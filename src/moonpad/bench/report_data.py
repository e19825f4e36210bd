"""Reads the folder of a run or sweep, also of a killed one, for its page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from moonpad.bench.knee import Knee, find_knee, level_of
from moonpad.bench.lenient_json import number_at, value_at
from moonpad.bench.metrics import metrics_of
from moonpad.bench.request_data import RequestData, requests_of
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.run_files import DEVICES_FILE, REQUESTS_FILE, RESULT_FILE, RUN_FILE, SERVER_FILE
from moonpad.bench.run_header import read_plan
from moonpad.bench.saved_records import SavedRecords
from moonpad.bench.saved_results import read_document
from moonpad.bench.sweep import SWEEP_FILE, Point
from moonpad.bench.telemetry import Sample, ServerStats
from moonpad.load.record import RequestRecord
from moonpad.observe.metrics import EngineLoad
from moonpad.spec.json_input import json_lines, read_json_file
from moonpad.values.errors import UsageError
from moonpad.values.records import field_names
from moonpad.values.visible_text import shell_word

GAUGES: Final = ("running", "waiting", "kv_usage")
USES: Final = ("power_w", "busy")
MAKE_ONE: Final = "name a folder written by moonpad bench --out"


@dataclass(frozen=True, slots=True)
class RunData:
    """`document` has the keys of `vllm bench serve`, ours under `moonpad`.

    config: of run.json, as JSON; None where the folder has none.
    requests: None where they were not saved.
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
class SweepData:
    """`over`: "concurrency", or "requests" that come all at once. `cut`: the sweep was interrupted."""

    name: str
    over: str
    points: tuple[Point, ...]
    knee: Knee | None
    cut: bool = False


def read_report(folder: Path) -> RunData | SweepData:
    """
    Raises:
        UsageError: the folder holds neither, or its files are not what they should be.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise UsageError(f"{folder} {what}", remedy=MAKE_ONE)
    try:
        if (folder / RESULT_FILE).exists() or (folder / REQUESTS_FILE).exists():
            return _run(folder)
        if (folder / SWEEP_FILE).exists():
            return _sweep(folder)
        if cut := _points_of_folders(folder):
            return _judged(folder, *cut, cut=True)
    except OSError as error:
        raise UsageError(f"{error.filename or folder} cannot be read: {error.strerror}", remedy=MAKE_ONE) from error
    raise UsageError(f"{folder} holds neither a run nor a sweep", remedy=MAKE_ONE)


def _run(folder: Path) -> RunData:
    records = SavedRecords(folder / REQUESTS_FILE)
    killed = not (folder / RESULT_FILE).exists()
    samples, devices = _by_time(_samples(folder / SERVER_FILE)), _by_time(_uses(folder / DEVICES_FILE))
    try:
        if killed and not records:
            raise UsageError(
                f"{folder}: no request of this run finished", remedy=f"moonpad bench --resume {shell_word(folder)}"
            )
        document = killed_document(folder, records) if killed else read_document(folder / RESULT_FILE)
        requests = requests_of(records) if len(records) else None
    except (TypeError, ValueError, ArithmeticError) as error:
        raise UsageError(
            f"{folder / REQUESTS_FILE} has a row that is not a request: {error}", remedy=MAKE_ONE
        ) from error
    return RunData(_name(folder), document, _config(folder), requests, samples, killed, devices)


def _config(folder: Path) -> Mapping[str, Any] | None:
    """None without a readable run.json: the page does without it."""
    try:
        config = read_json_file(folder / RUN_FILE)["config"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return config if isinstance(config, dict) else None


def _by_time(samples: Iterable[dict[str, float]]) -> tuple[Mapping[str, float], ...]:
    return tuple(sorted(samples, key=lambda sample: sample["at_s"]))


def _samples(file: Path) -> Iterator[dict[str, float]]:
    for row in _sample_rows(file):
        sample = {name: value for name in ("at_s", *GAUGES) if (value := number_at(row, name)) is not None}
        if "at_s" in sample:
            yield sample


def _uses(file: Path) -> Iterator[dict[str, float]]:
    for row in _sample_rows(file):
        at_s, uses = number_at(row, "at_s"), value_at(row, "devices")
        if at_s is None or not isinstance(uses, list):
            continue
        powers, busy = ([value for use in uses if (value := number_at(use, name)) is not None] for name in USES)
        power = {"power_w": sum(powers)} if powers else {}
        yield {"at_s": at_s, **power, **({"busy": fmean(busy)} if busy else {})}


def _sweep(folder: Path) -> SweepData:
    file = folder / SWEEP_FILE
    try:
        document = read_json_file(file)
        over, rows = document["over"], document["points"]
        points = [Point(int(row["load"]), row) for row in rows]
        if not points or not isinstance(over, str):
            raise ValueError("it has no points")
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} is not a sweep: {error}", remedy="moonpad bench --sweep … --out FOLDER") from error
    return _judged(folder, over, points)


def _points_of_folders(folder: Path) -> tuple[str, list[Point]] | None:
    """The complete runs of a sweep that was killed before it wrote its own file."""
    for over in ("concurrency", "requests"):
        points = [
            Point(int(load), read_document(place / RESULT_FILE))
            for place in sorted(folder.glob(f"{over}-*"))
            if (load := place.name.rpartition("-")[2]).isdecimal() and (place / RESULT_FILE).exists()
        ]
        if points:
            return over, points
    return None


def _judged(folder: Path, over: str, points: Sequence[Point], *, cut: bool = False) -> SweepData:
    for point in points:
        throughput = number_at(point.document, "output_throughput")
        if throughput is None or throughput < 0 or point.load < 1:
            raise UsageError(f"{folder}: load {point.load} has no output_throughput", remedy="measure it again")
    try:
        knee = find_knee([level_of(point.load, point.document) for point in points])
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"the knee of the sweep in {folder} cannot be computed: {error}", remedy="measure it again"
        ) from error
    return SweepData(_name(folder), over, tuple(sorted(points, key=lambda point: point.load)), knee, cut)


def _name(folder: Path) -> str:
    return folder.resolve().name


def killed_document(folder: Path, records: Sequence[RequestRecord]) -> dict[str, Any]:
    """The result of a run that was killed before it wrote one, from the requests it had saved: as if it had been
    interrupted. `date` and `client` are None, since only its process knew them.

    Raises:
        UsageError: the folder holds no run.
    """
    plan = read_plan(folder)
    duration_s = max((record.closed_s for record in records), default=0.0)
    result = BenchResult(
        plan=plan,
        began="",
        records=records,
        metrics=metrics_of(records, duration_s, plan.config.slo),
        client_cpu=0.0,
        partial=len(records) < plan.config.requests,
        workers=plan.config.workers,
        server=ServerStats(list(_loads(folder / SERVER_FILE))),
    )
    document = as_json(result)
    return {**document, "date": None, "moonpad": {**document["moonpad"], "client": None}}


def _sample_rows(file: Path) -> Iterator[object]:
    """The lines of a file of samples, if there is one; without a line that a kill tore. Two days of them are 64 MB."""
    return json_lines(file) if file.exists() else iter(())


def _loads(file: Path) -> Iterator[Sample]:
    for row in _sample_rows(file):
        if (at_s := number_at(row, "at_s")) is not None:
            yield Sample(at_s, EngineLoad(**{name: number_at(row, name) for name in field_names(EngineLoad)}))
