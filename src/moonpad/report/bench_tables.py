"""Several runs as published tables have them, in Markdown: a sweep, one row per load; repeats, one row per figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moonpad.bench.knee import Knee
from moonpad.bench.repeat import FigureSpread
from moonpad.bench.sweep import Point, SweepResult
from moonpad.report.plain_text import markdown_table

COLUMNS: Final = (
    ("duration (s)", "duration"),
    ("request throughput (req/s)", "request_throughput"),
    ("output throughput (tok/s)", "output_throughput"),
    ("total throughput (tok/s)", "total_token_throughput"),
    ("mean TTFT (ms)", "mean_ttft_ms"),
    ("P99 TTFT (ms)", "p99_ttft_ms"),
    ("mean TPOT (ms)", "mean_tpot_ms"),
)


def sweep_table(result: SweepResult) -> str:
    first = "max concurrency" if result.sweep.over == "concurrency" else "requests at once"
    names = (first, "prompts", "success", *(name for name, _ in COLUMNS))
    return markdown_table(names, [_row(point) for point in result.points])


def _row(point: Point) -> tuple[str, ...]:
    prompts, success = point.document["num_prompts"], point.document["completed"]
    figures = (point.document.get(key) for _, key in COLUMNS)
    shown = (f"{figure:.2f}" if isinstance(figure, int | float) else "not reported" for figure in figures)
    return (str(point.load), str(prompts), f"{success} / {prompts}", *shown)


def knee_notes(knee: Knee | None, loads: tuple[int, ...]) -> list[str]:
    if knee is None:
        return [f"no knee up to {max(loads)}: each step still pays; try higher loads"]
    return [
        f"the knee lies between {knee.below} and {knee.above}: {', '.join(knee.signs)}",
        f"cause: {knee.cause}",
        f"  {knee.remedy}",
    ]


def repeat_table(spreads: Sequence[FigureSpread]) -> str:
    rows = []
    for spread in spreads:
        figures = (f"{value:.2f}" for value in (spread.median, spread.least, spread.most))
        rows.append((spread.name, *figures, "-" if spread.apart is None else f"{spread.apart:.1%}"))
    return markdown_table(("figure", "median", "least", "most", "apart"), rows, words=1)
