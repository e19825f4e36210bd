"""The evaluations, a line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.table import Table

from moonpad.evaluate.listing import ListedEval
from moonpad.report.plain_text import shown

HEADS: Final = ("name", "state", "model", "task", "protocol", "answers", "cut", "accuracy")


def evals_table(rows: Sequence[ListedEval]) -> Table:
    table = Table(box=None, pad_edge=False)
    for at, head in enumerate(HEADS):
        table.add_column(
            head, justify="right" if head in ("answers", "cut") else "left", no_wrap=at < 2, overflow="fold"
        )
    for row in rows:
        table.add_row(*(shown(cell) for cell in _cells(row)))
    return table


def _cells(row: ListedEval) -> tuple[str, ...]:
    if row.state == "unreadable":
        return (row.folder.name, row.state, *("-",) * (len(HEADS) - 2))
    answers = str(row.answered) if row.questions is None else f"{row.answered} of {row.questions}"
    accuracies = ", ".join(f"{name} {value:.4f}" for name, value in row.accuracies.items()) or "-"
    cut = "-" if row.cut is None else str(row.cut)
    return (row.folder.name, row.state, row.model, row.task, row.protocol, answers, cut, accuracies)
