"""How far predictions are off from published speeds that they were not fitted to, and the ranges that follow.

    python -m benchmarks.predict_loo --out benchmarks/results/predict_loo.json [--write]     (needs scipy)

Four questions, each by leaving out and fitting again (scripts/fit_step_constants.py, linear around the fit to all):

- `within`: one point is left out, others of its device and weights are there;
- `unseen device`: all points of a device are left out;
- `unseen group`: all points of one source, device and kind of weights are left out;
- `one point`: the device is left out, then one point of the group corrects the rest (what `moonpad calibrate` does).

A range of 80 % for each comes from the residuals of the other groups (never from those that it is judged on), so that
its coverage is measured too. `--write` puts the constants and the ranges of all groups into step_constants.toml, and
the tables into docs/predict.md.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.predict_points import Row, rows, seconds_of
from benchmarks.predict_processor import processor_rows, simulation_cost
from benchmarks.predict_seeds import prefill_rows, seed_rows
from moonpad.catalog import step_constants
from moonpad.catalog.step_constants import StepConstants
from moonpad.catalog.toml_rows import read_data
from moonpad.predict.ranges import kind_of_engine
from scripts.fit_step_constants import (
    RESULT,
    constants_of,
    corrections_of,
    document_of,
    fit,
    group_calibration,
    linear_around,
    solve,
)

DOCS = Path("docs/predict.md")
METRICS = ("tpot", "ttft")
LEVELS = ("within", "one point", "unseen device", "unseen group")
STANDING_OF = {"interpolated": "within", "calibrated here": "one point", "from the data sheet": "unseen device"}
"""Which residuals give the range of a prediction. `unseen device` and `unseen group` tell about the same."""
TAIL = {"tpot": 0.08, "ttft": 0.06}
"""On each side, where 0.1 would do if there were many groups."""
UNFITTED = {
    "tpot": {"interpolated": (0.6, 1.6), "calibrated here": (0.85, 1.2), "from the data sheet": (0.5, 4.0)},
    "ttft": {"interpolated": (0.5, 2.0), "calibrated here": (0.7, 1.5), "from the data sheet": (0.4, 5.0)},
}
"""Where no point was fitted at all: processors, experts in host memory, Ascend. Assumed: on an Atlas A3 the published
steps take 3.5 times as long as those by the data sheet."""
MEASURED = {"tpot": (0.95, 1.05), "ttft": (0.8, 1.25)}
"""Of a load that was measured: repeats of InferenceX differ by a few percent in TPOT, and by up to a fifth in TTFT."""


@dataclass(frozen=True)
class Residual:
    """`log`: of measured over predicted."""

    level: str
    row: str
    group: str
    metric: str
    log: float
    measured: float
    predicted: float

    @property
    def kind(self) -> str:
        """Engines of one kind share a range: those that were fitted to little are off by far more than vLLM."""
        return kind_of_engine(self.group.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    known = rows()
    whole = fit(known)
    linear = linear_around(known, list(whole.logs.values()))
    sets: dict[frozenset[str], None] = {}
    for of_level in (_without_row, _without_device, _without_source_group):
        sets |= dict.fromkeys(of_level(row, known) for row in known)
    fits = {ids: constants_of(list(solve(linear, [row for row in known if row.id in ids])[0])) for ids in sets}
    residuals = [residual for row in known for residual in _residuals(row, known, fits)]
    if options.write:
        # First the constants and the ranges, which the tables below are made with.
        RESULT.write_text(document_of(whole, *corrections_of(known, whole.constants)))
        _write_spreads(residuals)
        for kept in (
            read_data,
            step_constants.constants,
            step_constants.step_constants,
            step_constants.fitted_groups,
            step_constants.spreads,
        ):
            kept.cache_clear()
    result: dict[str, Any] = {
        "what": "predictions against published speeds that they were not fitted to",
        "at": time.strftime("%Y-%m-%d"),
        "points": len(known),
    }
    result["summary"] = {level: _summary(residuals, level) for level in LEVELS}
    result["by group"] = _by_group(residuals)
    result["residuals"] = [
        {
            "level": r.level,
            "row": r.row,
            "group": r.group,
            "metric": r.metric,
            "measured_ms": round(r.measured * 1e3, 2),
            "predicted_ms": round(r.predicted * 1e3, 2),
        }
        for r in residuals
    ]
    result["seeds"] = seed_rows()
    result["experts in host memory"] = prefill_rows()
    result["processor"] = processor_rows()
    result["simulation of 1000 requests, CPU ms"] = simulation_cost()
    if options.out and options.out.exists():
        # What other programs add, who run on their own.
        result |= {key: value for key, value in json.loads(options.out.read_text()).items() if key not in result}
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result["summary"], indent=1))
    if options.write:
        _write_tables(result)


def _without_row(row: Row, known: Sequence[Row]) -> frozenset[str]:
    return frozenset(other.id for other in known if other.id != row.id)


def _without_device(row: Row, known: Sequence[Row]) -> frozenset[str]:
    return frozenset(other.id for other in known if other.device != row.device)


def _without_source_group(row: Row, known: Sequence[Row]) -> frozenset[str]:
    return frozenset(other.id for other in known if other.source_group != row.source_group)


def _residuals(row: Row, known: Sequence[Row], fits: dict[frozenset[str], StepConstants]) -> Iterable[Residual]:
    others = [other for other in known if other.group[:2] == row.group[:2] and other.id != row.id]
    same_engine = [other for other in others if other.group == row.group]
    unseen = fits[_without_device(row, known)]
    yield from _compared("unseen device", row, unseen)
    yield from _compared("unseen group", row, fits[_without_source_group(row, known)])
    if others:
        constants = fits[_without_row(row, known)]
        yield from _compared("within", row, group_calibration(same_engine or others, constants).constants(constants))
    for other in same_engine:
        yield from _compared("one point", row, group_calibration([other], unseen).constants(unseen))


def _compared(level: str, row: Row, constants: StepConstants) -> Iterable[Residual]:
    predicted = dict(zip(METRICS, seconds_of(row, constants), strict=True))
    for metric, measured in (("tpot", row.point.tpot_s), ("ttft", row.point.ttft_s)):
        if measured and predicted[metric]:
            log = math.log(measured / predicted[metric])
            yield Residual(level, row.id, " ".join(row.group), metric, log, measured, predicted[metric])


def _summary(residuals: Sequence[Residual], level: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for metric in METRICS:
        own = [residual for residual in residuals if residual.level == level and residual.metric == metric]
        errors = [abs(residual.predicted / residual.measured - 1) for residual in own]
        vllm = [e for e, residual in zip(errors, own, strict=True) if residual.group.endswith("vllm")]
        found[metric] = {
            "comparisons": len(own),
            "groups": len({residual.group for residual in own}),
            "median_error": round(median(errors), 4),
            "median_error_vllm": round(median(vllm), 4),
            "mean_error": round(sum(errors) / len(errors), 4),
            "coverage_80": round(_coverage(own), 3),
            "ranges": {
                kind: [round(math.exp(end), 3) for end in _range([each for each in own if each.kind == kind])]
                for kind in ("vllm", "other")
            },
        }
    return found


def _coverage(own: Sequence[Residual]) -> float:
    """Of ranges that the other groups give."""
    inside = 0
    for residual in own:
        alike = [other for other in own if other.kind == residual.kind and other.group != residual.group]
        low, high = _range(alike)
        inside += low <= residual.log <= high
    return inside / len(own)


def _range(own: Sequence[Residual]) -> tuple[float, float]:
    """Percentiles, each group with the same weight."""
    groups: dict[str, list[float]] = defaultdict(list)
    for residual in own:
        groups[residual.group].append(residual.log)
    weighted = sorted((log, 1 / len(logs) / len(groups)) for logs in groups.values() for log in logs)
    tail = TAIL[own[0].metric]
    return _weighted(weighted, tail), _weighted(weighted, 1 - tail)


def _weighted(pairs: Sequence[tuple[float, float]], share: float) -> float:
    passed = 0.0
    for value, weight in pairs:
        passed += weight
        if passed >= share:
            return value
    return pairs[-1][0]


def _by_group(residuals: Sequence[Residual]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for group in sorted({residual.group for residual in residuals}):
        for level in LEVELS:
            own = [r for r in residuals if r.group == group and r.level == level and r.metric == "tpot"]
            if own:
                errors = [abs(r.predicted / r.measured - 1) for r in own]
                table.setdefault(group, {})[level] = {"comparisons": len(own), "median_error": round(median(errors), 4)}
    return table


def _write_spreads(residuals: Sequence[Residual]) -> None:
    text = RESULT.read_text()
    head = text[: text.index('[spreads."')] if '[spreads."' in text else text
    lines = []
    for metric in METRICS:
        for standing, level in STANDING_OF.items():
            for kind in ("vllm", "other"):
                own = [r for r in residuals if (r.level, r.metric, r.kind) == (level, metric, kind)]
                low, high = (math.exp(end) for end in _range(own))
                source = f"residuals of `{level}` in benchmarks/results/predict_loo.json"
                lines += _spread(f"{metric} {standing} {kind}", min(0.97, low), max(1.03, high), len(own), source)
            low, high = UNFITTED[metric][standing]
            lines += _spread(f"{metric} {standing} unfitted", low, high, 0, "assumed: no point was fitted")
        for standing in ("measured here", "measured by others at this point"):
            for kind in ("vllm", "other", "unfitted"):
                source = "assumed from the repeats that InferenceX publishes"
                lines += _spread(f"{metric} {standing} {kind}", *MEASURED[metric], 0, source)
    RESULT.write_text(head.rstrip() + "\n\n" + "\n".join(lines).rstrip() + "\n")


def _spread(key: str, low: float, high: float, points: int, source: str) -> list[str]:
    numbers = [f"low = {low:.3f}", f"high = {high:.3f}", f"points = {points}"]
    return [f'[spreads."{key}"]', *numbers, f'source = "{source}"', 'standing = "estimated"', ""]


def _write_tables(result: dict[str, Any]) -> None:
    text = DOCS.read_text()
    for name, table in (
        ("accuracy", _accuracy(result)),
        ("groups", _groups(result)),
        ("seeds", _seeds(result)),
        ("processor", _processor(result)),
        ("host", _host(result)),
    ):
        begin, end = f"<!-- {name} -->\n", f"<!-- end {name} -->"
        before, rest = text.split(begin)
        text = before + begin + table + end + rest.split(end, 1)[1]
    DOCS.write_text(text)


def _accuracy(result: dict[str, Any]) -> str:
    lines = [
        "| left out | metric | comparisons | median error | vLLM alone | 80 % range holds |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for level in LEVELS:
        for metric in METRICS:
            row = result["summary"][level][metric]
            lines.append(
                f"| {level} | {metric.upper()} | {row['comparisons']} | {row['median_error']:.1%} | "
                f"{row['median_error_vllm']:.1%} | {row['coverage_80']:.0%} |"
            )
    return "\n".join(lines) + "\n"


def _groups(result: dict[str, Any]) -> str:
    lines = ["| device, weights, engine | within | one point | unseen device |", "|---|---:|---:|---:|"]
    for group, levels in result["by group"].items():
        cells = (f"{levels[level]['median_error']:.1%}" if level in levels else "" for level in LEVELS[:3])
        lines.append(f"| {group} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _host(result: dict[str, Any]) -> str:
    lines = [
        "| published run | 2k | predicted | 8k | predicted | 32k | predicted |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in result["experts in host memory"]:
        cells = (f"{row[name][key]:,.0f}" for name in ("2k", "8k", "32k") for key in ("measured", "predicted"))
        lines.append(f"| `{row['id']}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _processor(result: dict[str, Any]) -> str:
    lines = ["| concurrency | TPOT ms | predicted | TTFT ms | predicted | |", "|---:|---:|---:|---:|---:|---|"]
    for row in result["processor"]["rows"]:
        measured, predicted = row["measured"], row["calibrated"]
        cells = (f"{each[key]:.1f}" for key in ("tpot_ms", "ttft_ms") for each in (measured, predicted))
        by = "calibrated by this one" if row["calibrated by"] else ""
        lines.append(f"| {row['concurrency']} | {' | '.join(cells)} | {by} |")
    return "\n".join(lines) + "\n"


def _cell(row: dict[str, Any], key: str) -> str:
    return f"{row[key]:,.0f}" if row[key] > 100 else f"{row[key]:.1f}"


def _seeds(result: dict[str, Any]) -> str:
    lines = [
        "| published run | layout | TTFT ms | predicted | TPOT ms | predicted | tokens/s | predicted | why not |",
        "|---|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for row in result["seeds"]:
        cells = []
        for key in ("ttft_mean_ms", "tpot_mean_ms", "output_tokens_per_s"):
            predicted = _cell(row["predicted"], key)
            if "one point" in row:
                predicted += f" ({_cell(row['one point'], key)})"
            cells += [_cell(row["measured"], key), predicted]
        lines.append(f"| `{row['id']}` | {row['layout']} | {' | '.join(cells)} | {row['reason']} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
