"""What lies in the folders of runs and sweeps, in a row each, whatever state they are in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from moonpad.bench.config import BenchConfig
from moonpad.bench.document import number_at
from moonpad.bench.folder import REQUESTS_FILE, RESULT_FILE, RUN_FILE
from moonpad.bench.metrics import metrics_of
from moonpad.bench.repeat import REPEAT_FILE
from moonpad.bench.resume import read_plan
from moonpad.bench.saved_records import SavedRecords
from moonpad.bench.sweep import SWEEP_FILE
from moonpad.values.errors import UsageError

FIGURES: Final = (
    "completed", "failed", "duration", "output_throughput", "median_ttft_ms", "p99_ttft_ms", "mean_tpot_ms",
)  # fmt: skip
PARTS: Final = ("concurrency", "requests", "run")
"""Of a sweep over either, and of repeats: `concurrency-8`. What was put aside, `concurrency-8.before-1`, is none."""
State = Literal["whole", "partial", "sweep", "repeats", "unreadable"]


@dataclass(frozen=True, slots=True)
class Listed:
    """`figures` has the keys of `vllm bench serve`, as far as they are known; `load` is for people."""

    folder: Path
    state: State
    date: str = ""
    model: str = ""
    base_url: str = ""
    load: str = ""
    asked: int = 0
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
            "num_prompts": self.asked,
            **(self.figures or {}),
        }


def listed(folder: Path) -> Listed:
    """One row; of a folder that is neither run nor sweep, or is torn, that it cannot be read."""
    try:
        if (folder / SWEEP_FILE).exists():
            return _sweep(folder, orjson.loads((folder / SWEEP_FILE).read_bytes()))
        if (folder / REPEAT_FILE).exists():
            return _repeats(folder, orjson.loads((folder / REPEAT_FILE).read_bytes()))
        if (folder / RESULT_FILE).exists():
            return _result(folder, orjson.loads((folder / RESULT_FILE).read_bytes()))
        return _cut(folder) if (folder / RUN_FILE).exists() else _cut_in_parts(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, UsageError):
        return Listed(folder, "unreadable")


def _result(folder: Path, document: Mapping[str, Any]) -> Listed:
    """
    Raises:
        KeyError, TypeError: it is none of ours.
    """
    ours = document["moonpad"]
    date, model, base_url, asked = document["date"], document["model_id"], ours["base_url"], document["num_prompts"]
    if not (all(isinstance(text, str) for text in (date, model, base_url)) and isinstance(asked, int)):
        raise TypeError("a result has its date, its model and its endpoint as texts, and a number of requests")
    load = _load(document["max_concurrency"], document["request_rate"], ours.get("arrivals"))
    return Listed(
        folder,
        "partial" if ours["partial"] else "whole",
        date,
        model,
        base_url,
        f"{load}; {ours['workload']['said']}",
        asked,
        {name: number_at(document, name) for name in FIGURES},
    )


def _sweep(folder: Path, document: Mapping[str, Any]) -> Listed:
    """Its figures are those of the point with the most output."""
    points = document["points"]
    best = max(points, key=lambda point: point["output_throughput"])
    row = _result(folder, best)
    loads = ",".join(str(point["load"]) for point in points)
    knee = document["knee"]
    found = f", knee {knee['below']} to {knee['above']}" if knee else ""
    load = f"{document['over']}={loads}{found}"
    asked = sum(point["num_prompts"] for point in points)
    return Listed(folder, "sweep", points[0]["date"], row.model, row.base_url, load, asked, row.figures)


def _repeats(folder: Path, document: Mapping[str, Any]) -> Listed:
    """Its latencies and rates are the medians."""
    runs = document["repeats"]
    row = _result(folder, runs[0])
    medians = {name: number_at(document, "spread", name, "median") for name in FIGURES}
    counts = {name: sum(run[name] for run in runs) for name in ("completed", "failed", "duration")}
    asked = sum(run["num_prompts"] for run in runs)
    figures = {**medians, **counts}
    return Listed(
        folder, "repeats", row.date, row.model, row.base_url, f"{row.load}, {len(runs)} times", asked, figures
    )


def _cut(folder: Path) -> Listed:
    """What was killed before its result: the figures are those of the requests that had ended."""
    plan, records = read_plan(folder), SavedRecords(folder / REQUESTS_FILE)
    metrics = metrics_of(records, max((record.closed_s for record in records), default=0.0))
    ttft, tpot = metrics.ttft_s, metrics.tpot_s
    figures = (
        metrics.completed,
        metrics.failed,
        metrics.duration_s,
        metrics.output_throughput,
        1000 * ttft.median if ttft else None,
        1000 * ttft.percentile(99.0) if ttft else None,
        1000 * tpot.mean if tpot else None,
    )
    return Listed(
        folder,
        "partial",
        model=plan.model,
        load=f"{_planned(plan.config)}; {plan.config.workload.said}",
        asked=plan.config.requests,
        figures=dict(zip(FIGURES, figures, strict=True)),
    )


def _cut_in_parts(folder: Path) -> Listed:
    """A sweep or repeats that were killed before they wrote their own file: the figures are those of the part with the
    most output, the counts those of all that were begun.

    Raises:
        ValueError: nothing was begun, or not by us.
    """
    named = {path.name.rpartition("-"): path for path in folder.iterdir() if (path / RUN_FILE).exists()}
    begun = {(over, int(number)): path for (over, _, number), path in named.items() if over in PARTS}
    parts = {key: listed(begun[key]) for key in sorted(begun)}
    best = max(parts.values(), key=lambda part: (part.figures or {}).get("output_throughput") or 0.0)
    if best.figures is None:
        raise ValueError("no part of it can be read")
    over = next(iter(parts))[0]
    loads = ",".join(str(number) for _, number in parts)
    load = f"{best.load}, {len(parts)} times" if over == "run" else f"{over}={loads}"
    counts = {
        name: sum((part.figures or {}).get(name) or 0 for part in parts.values())
        for name in ("completed", "failed", "duration")
    }
    asked = sum(part.asked for part in parts.values())
    figures = {**best.figures, **counts}
    return Listed(folder, "partial", best.date, best.model, best.base_url, load, asked, figures)


def _planned(config: BenchConfig) -> str:
    kind = {"kind": config.arrivals.kind if config.arrivals else "trace"} if config.paced else None
    return _load(config.concurrency, config.arrivals.rate if config.arrivals else "inf", kind)


def _load(concurrency: int | None, rate: float | str, arrivals: Mapping[str, Any] | None) -> str:
    users = "" if concurrency is None else f"{concurrency} users"
    if arrivals is None:
        return users
    how = "a trace" if arrivals["kind"] == "trace" else f"{rate} a second, {arrivals['kind']}"
    return f"{how}, at most {concurrency}" if users else how
