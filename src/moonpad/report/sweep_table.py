"""A sweep as published tables have it: one row per load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from moonpad.report.markdown import markdown_table

if TYPE_CHECKING:
    from moonpad.bench.knee import Knee
    from moonpad.bench.sweep import Point, SweepResult

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


def knee_notes(knee: Knee | None, loads: tuple[int, ...]) -> list[str]:
    if knee is None:
        return [f"no knee up to {max(loads)}: each step still pays; try higher loads"]
    return [
        f"the knee lies between {knee.below} and {knee.above}: {', '.join(knee.signs)}",
        f"cause: {knee.cause}",
        f"  {knee.remedy}",
    ]


def _row(point: Point) -> tuple[str, ...]:
    document: dict[str, Any] = point.document
    prompts, success = document["num_prompts"], document["completed"]
    return (
        str(point.load),
        str(prompts),
        f"{success} / {prompts}",
        *(_figure(document.get(key)) for _, key in COLUMNS),
    )


def _figure(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else "not reported"
