"""Several runs of one measurement: median, extremes and spread of each figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moonpad.report.markdown import markdown_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from moonpad.bench.repeat import FigureSpread


def repeat_table(spreads: Sequence[FigureSpread]) -> str:
    rows = [
        (spread.name, *(f"{value:.2f}" for value in (spread.median, spread.least, spread.most)), _share(spread.apart))
        for spread in spreads
    ]
    return markdown_table(("figure", "median", "least", "most", "apart"), rows, words=1)


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
