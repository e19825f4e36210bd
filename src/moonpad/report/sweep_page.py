"""A sweep as a page: where more load stops paying, and what a user has of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from moonpad.bench.lenient_json import number_at
from moonpad.bench.report_data import SweepData
from moonpad.bench.sweep import Point
from moonpad.report.html_page import page
from moonpad.report.run_phrases import (
    client_words,
    configuration,
    heading,
    latency_rows,
    latency_tile,
    lengths_words,
    short,
    warnings,
)
from moonpad.report.sweep_charts import Series, load_chart, pareto_chart

OVER: Final = {"concurrency": "concurrent users", "requests": "requests at once"}
COLUMNS: Final = (
    ("output tokens/s", "output_throughput"),
    ("requests/s", "request_throughput"),
    ("mean TTFT (ms)", "mean_ttft_ms"),
    ("P99 TTFT (ms)", "p99_ttft_ms"),
    ("median TPOT (ms)", "median_tpot_ms"),
    ("P99 E2EL (ms)", "p99_e2el_ms"),
)
PREDICTED: Final = (("predicted TTFT (ms)", "median_ttft_ms"), ("predicted TPOT (ms)", "median_tpot_ms"))
"""Of medians; a column where any load has one."""
THROUGHPUT: Final = (("output", "output_throughput"),)
TTFT: Final = (("P99", "p99_ttft_ms"), ("median", "median_ttft_ms"))


def sweep_page(sweep: SweepData, devices: int) -> str:
    """The HTML of a sweep; `devices` carried it, which its results do not say."""
    first, over = sweep.points[0].document, OVER.get(sweep.over, sweep.over)
    knee = (sweep.knee.below, sweep.knee.above) if sweep.knee else None
    pareto = _pareto(sweep, devices)
    shared = _shared(sweep)
    predicted = [
        (title, key)
        for title, key in PREDICTED
        if any(_predicted(point.document, key) is not None for point in sweep.points)
    ]
    return page(
        "sweep.html",
        **heading(first),
        name=sweep.name,
        over=over,
        loads=", ".join(f"{point.load:,}" for point in sweep.points),
        lengths=lengths_words(first),
        cut=sweep.cut,
        tiles=_tiles(sweep, over),
        warnings=[
            (severity, f"{_at(point.load, over)}: {text}")
            for point in sweep.points
            for severity, text in warnings(point.document)
        ],
        knee=sweep.knee,
        highest=sweep.points[-1].load,
        throughput=_over_load(sweep, "throughput", over, "output tokens a second", THROUGHPUT, knee),
        ttft=_over_load(sweep, "ttft", over, "TTFT (ms)", TTFT, knee),
        pareto=pareto_chart(pareto, over) if pareto else None,
        devices=devices,
        titles=[*(title for title, _ in COLUMNS), *(title for title, _ in predicted)],
        points=[_row(point, over, shared, predicted) for point in sweep.points],
        configuration=shared,
    )


def _tiles(sweep: SweepData, over: str) -> list[tuple[str, str, str]]:
    """(name, figure, small print)."""
    best = max(sweep.points, key=lambda point: number_at(point.document, "output_throughput") or 0.0)
    highest = short(number_at(best.document, "output_throughput"))
    shown = next((point for point in sweep.points if sweep.knee and point.load == sweep.knee.below), sweep.points[-1])
    where = "below the knee" if sweep.knee else "highest load"
    return [
        ("highest output throughput", highest, f"tokens/s at {_at(best.load, over)}"),
        (f"load, {where}", f"{shown.load:,}", over),
        *(latency_tile(shown.document, key, " there") for key in ("ttft", "tpot")),
    ]


def _over_load(
    sweep: SweepData,
    id_: str,
    over: str,
    unit: str,
    keys: Sequence[tuple[str, str]],
    knee: tuple[int, int] | None,
) -> Markup | None:
    """A drawing of these figures; None where no point has one."""
    series: list[Series] = []
    for name, key in keys:
        points = [
            (point.load, value) for point in sweep.points if (value := number_at(point.document, key)) is not None
        ]
        if points:
            series.append((name, points))
    return load_chart(id_, f"{unit} against {over}", unit, over, series, knee) if series else None


def _pareto(sweep: SweepData, devices: int) -> list[tuple[int, float, float]]:
    """(load, tokens a second for a user, tokens a second for a device) of the points that have both."""
    rows = []
    for point in sweep.points:
        tpot_ms, throughput = (number_at(point.document, key) for key in ("median_tpot_ms", "output_throughput"))
        if tpot_ms and tpot_ms > 0 and throughput is not None:
            rows.append((point.load, 1000 / tpot_ms, throughput / devices))
    return rows


def _shared(sweep: SweepData) -> list[tuple[str, str]]:
    """The settings that are the same at every load."""
    first, *others = (configuration(point.document, None) for point in sweep.points)
    return [row for row in first if all(row in other for other in others)]


def _at(load: int, over: str) -> str:
    """A load in words: 1 concurrent user, 8 requests at once."""
    return f"{load:,} {over}" if load != 1 else f"1 {over.replace('users', 'user').replace('requests', 'request')}"


def _predicted(document: Mapping[str, Any], key: str) -> float | None:
    return number_at(document, "moonpad", "planned", key, "value")


def _row(
    point: Point, over: str, shared: Sequence[tuple[str, str]], predicted: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    document: Mapping[str, Any] = point.document
    figures = [number_at(document, key) for _, key in COLUMNS]
    figures += [_predicted(document, key) for _, key in predicted]
    return {
        "load": f"{point.load:,}",
        "at": _at(point.load, over),
        "success": f"{number_at(document, 'completed') or 0:,.0f} / {number_at(document, 'num_prompts') or 0:,.0f}",
        "cells": ["–" if value is None else f"{value:,.2f}" for value in figures],
        "rows": latency_rows(document),
        "client": client_words(document),
        "configuration": [row for row in configuration(document, None) if row not in shared],
    }
