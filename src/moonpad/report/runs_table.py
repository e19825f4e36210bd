"""The runs that were measured, a line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.table import Table

from moonpad.bench.run_listing import ListedRun
from moonpad.report.plain_text import shown

HEADS: Final = ("name", "state", "model", "load", "requests", "output tok/s", "TTFT p50 / p99 ms", "TPOT ms")


def runs_table(rows: Sequence[ListedRun]) -> Table:
    table = Table(box=None, pad_edge=False)
    for at, head in enumerate(HEADS):
        table.add_column(head, justify="left" if at < 4 else "right", no_wrap=at < 2, overflow="fold")
    for row in rows:
        table.add_row(*(shown(cell) for cell in _cells(row)))
    return table


def _cells(row: ListedRun) -> tuple[str, ...]:
    if row.figures is None:
        return (row.folder.name, row.state, *("-",) * (len(HEADS) - 2))
    figures = {name: "-" if value is None else f"{value:.1f}" for name, value in row.figures.items()}
    done = int(row.figures["completed"] or 0)
    ttft = f"{figures['median_ttft_ms']} / {figures['p99_ttft_ms']}"
    # A sweep's figures are those of one of its points; how many requests all of them had is what was asked.
    requests = str(row.requests) if row.state == "sweep" else f"{done} of {row.requests}"
    return (
        row.folder.name, row.state, row.model, row.load, requests, figures["output_throughput"], ttft,
        figures["mean_tpot_ms"],
    )  # fmt: skip
