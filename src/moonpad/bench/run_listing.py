"""The folders of runs and sweeps as one row each, whatever state they are in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from moonpad.bench.lenient_json import number_at
from moonpad.bench.repeat import REPEAT_FILE
from moonpad.bench.report_data import killed_document
from moonpad.bench.run_files import REQUESTS_FILE, RESULT_FILE, RUN_FILE
from moonpad.bench.saved_records import SavedRecords
from moonpad.bench.sweep import SWEEP_FILE
from moonpad.spec.json_input import read_json_file
from moonpad.values.errors import UsageError
from moonpad.values.records import replace

FIGURES: Final = (
    "completed", "failed", "duration", "output_throughput", "median_ttft_ms", "p99_ttft_ms", "mean_tpot_ms",
)  # fmt: skip
SUMMED: Final = ("completed", "failed", "duration")
"""Those that add up over the parts of a sweep or over repeats."""
PARTS: Final = ("concurrency", "requests", "run")
"""Folder prefixes of a sweep's loads and of repeats: `concurrency-8`, but not `concurrency-8.before-1`, set aside."""
State = Literal["whole", "partial", "sweep", "repeats", "unreadable"]


@dataclass(frozen=True, slots=True)
class ListedRun:
    """`figures` has the keys of `vllm bench serve`, as far as they are known; `load` is in words."""

    folder: Path
    state: State
    date: str = ""
    model: str = ""
    base_url: str = ""
    load: str = ""
    requests: int = 0
    figures: Mapping[str, float | None] | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.folder.name,
            "folder": str(self.folder),
            "state": self.state,
            "date": self.date,
            "model_id": self.model,
            "base_url": self.base_url,
            "load": self.load,
            "num_prompts": self.requests,
            **(self.figures or {}),
        }


def list_run(folder: Path) -> ListedRun:
    """`unreadable` where the folder is neither a run nor a sweep, or its files are damaged."""
    try:
        for name, row_of in ((SWEEP_FILE, _sweep), (REPEAT_FILE, _repeats), (RESULT_FILE, _result)):
            if (folder / name).exists():
                return row_of(folder, read_json_file(folder / name))
        if (folder / RUN_FILE).exists():
            document = killed_document(folder, SavedRecords(folder / REQUESTS_FILE))
            return replace(_result(folder, {**document, "date": ""}), state="partial")
        return _killed_parts(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, UsageError):
        return ListedRun(folder, "unreadable")


def _result(folder: Path, document: Mapping[str, Any]) -> ListedRun:
    """
    Raises:
        KeyError, TypeError: it is not a result of moonpad.
    """
    ours = document["moonpad"]
    date, model, base_url = document["date"], document["model_id"], ours["base_url"]
    requests = document["num_prompts"]
    if not (all(isinstance(text, str) for text in (date, model, base_url)) and isinstance(requests, int)):
        raise TypeError("a result has its date, its model and its endpoint as texts, and a number of requests")
    load = _load(document["max_concurrency"], document["request_rate"], ours.get("arrivals"))
    return ListedRun(
        folder,
        "partial" if ours["partial"] else "whole",
        date,
        model,
        base_url,
        f"{load}; {ours['workload']['said']}",
        requests,
        {name: number_at(document, name) for name in FIGURES},
    )


def _sweep(folder: Path, document: Mapping[str, Any]) -> ListedRun:
    """The figures are those of the point with the highest output throughput."""
    points, knee = document["points"], document["knee"]
    row = _result(folder, max(points, key=lambda point: point["output_throughput"]))
    loads = ",".join(str(point["load"]) for point in points)
    where = f", knee {knee['below']} to {knee['above']}" if knee else ""
    requests = sum(point["num_prompts"] for point in points)
    load = f"{document['over']}={loads}{where}"
    return replace(row, state="sweep", date=points[0]["date"], load=load, requests=requests)


def _repeats(folder: Path, document: Mapping[str, Any]) -> ListedRun:
    """Its latencies and rates are the medians, its counts the sums."""
    runs = document["repeats"]
    row = _result(folder, runs[0])
    medians = {name: number_at(document, "spread", name, "median") for name in FIGURES}
    sums = {name: sum(run[name] for run in runs) for name in SUMMED}
    load, requests = f"{row.load}, {len(runs)} times", sum(run["num_prompts"] for run in runs)
    return replace(row, state="repeats", load=load, requests=requests, figures={**medians, **sums})


def _killed_parts(folder: Path) -> ListedRun:
    """A sweep or repeats that were killed before they wrote their own file: the figures are those of the part with the
    most output, the counts those of all that were begun.

    Raises:
        ValueError: nothing was begun, or not by us.
    """
    named = {path.name.rpartition("-"): path for path in folder.iterdir() if (path / RUN_FILE).exists()}
    begun = {(over, int(number)): path for (over, _, number), path in named.items() if over in PARTS}
    parts = [list_run(begun[key]) for key in sorted(begun)]
    best = max(parts, key=lambda part: (part.figures or {}).get("output_throughput") or 0.0)
    if best.figures is None:
        raise ValueError("no part of it can be read")
    over, numbers = min(begun)[0], ",".join(str(number) for _, number in sorted(begun))
    load = f"{best.load}, {len(parts)} times" if over == "run" else f"{over}={numbers}"
    sums = {name: sum((part.figures or {}).get(name) or 0 for part in parts) for name in SUMMED}
    requests = sum(part.requests for part in parts)
    figures = {**best.figures, **sums}
    return replace(best, folder=folder, state="partial", load=load, requests=requests, figures=figures)


def _load(concurrency: int | None, rate: float | str, arrivals: Mapping[str, Any] | None) -> str:
    users = "" if concurrency is None else f"{concurrency} users"
    if arrivals is None:
        return users
    how = "a trace" if arrivals["kind"] == "trace" else f"{rate} a second, {arrivals['kind']}"
    return f"{how}, at most {concurrency}" if users else how
