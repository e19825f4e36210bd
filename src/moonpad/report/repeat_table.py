"""Several runs of one measurement: the middle, the ends, and how far they lie apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moonpad.report.markdown import markdown_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from moonpad.bench.repeat import Spread


def repeat_table(spreads: Sequence[Spread]) -> str:
    rows = [
        (one.name, *(f"{value:.2f}" for value in (one.median, one.least, one.most)), _apart(one.apart))
        for one in spreads
    ]
    return markdown_table(("figure", "median", "least", "most", "apart"), rows, words=1)


def _apart(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
