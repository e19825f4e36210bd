"""Two runs as a table, as the published gain analyses have it, with how sure each change is."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from rich.text import Text

from moonpad.bench.compare import P99_REQUESTS

if TYPE_CHECKING:
    from moonpad.bench.compare import Comparison, Row

NAMES: Final = {
    "request_throughput": "Request throughput (req/s)",
    "output_throughput": "Output token throughput (tok/s)",
    "total_token_throughput": "Total token throughput (tok/s)",
}
WORDS: Final = (0, 5)
"""Columns of words, to the left; the others are figures."""
STYLES: Final = {"better": "green", "worse": "red", "no difference shown": "", "unknown": "dim"}


def compare_table(found: Comparison) -> Text:
    """One line a figure, however wide: a line that a terminal wraps is better than a figure that it cuts."""
    head = ("Metric", "A", "B", "Change", "Gain", "How sure")
    lines = [(head, "bold"), *((_cells(row), STYLES[row.verdict]) for row in found.rows)]
    widths = [max(len(cells[at]) for cells, _ in lines) for at in range(len(head))]
    text = Text()
    for cells, style in lines:
        words = (
            f"{cell:<{width}}" if at in WORDS else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        text.append("  ".join(words).rstrip() + "\n", style=style)
    text.rstrip()
    return text


def _cells(row: Row) -> tuple[str, ...]:
    change = f"{row.second - row.first:+,.2f}"
    return (_label(row.name), f"{row.first:,.2f}", f"{row.second:,.2f}", change, f"{row.gain:+.1%}", _sure(row))


def compare_notes(found: Comparison) -> list[str]:
    """What a reader must know before believing the table."""
    notes = [f"A: {found.first}", f"B: {found.second}"]
    notes += [f"{name} is partial: moonpad bench --resume {shlex.quote(name)}" for name in found.partial]
    if found.paired:
        notes.append(f"{found.paired} requests are the same in both, and compared pair by pair")
    elif any(row.ratio.differs is not None for row in found.rows):
        notes.append("the requests are not known to be the same: compared as two samples")
    else:
        notes.append("nobody kept the single requests, so nothing says how sure a change is")
    latencies = [row for row in found.rows if row.name in ("mean_ttft_ms", "p99_ttft_ms")]
    if [row.ratio.differs is None for row in latencies] == [False, True]:
        notes.append(f"a P99 has an interval from {P99_REQUESTS} requests on")
    one, other = found.tokens
    if not found.same_length and one is not None and other is not None:
        notes.append(f"answers have {one:.1f} and {other:.1f} tokens: throughputs of tokens are not comparable")
        if found.split:
            requests, tokens = found.split
            notes.append(
                f"of the output throughput's {requests * tokens - 1:+.1%}, requests a second are {requests - 1:+.1%} "
                f"and longer answers {tokens - 1:+.1%}"
            )
    return notes


def _label(name: str) -> str:
    if name in NAMES:
        return NAMES[name]
    statistic, _, rest = name.partition("_")
    return f"{statistic.capitalize()} {rest.removesuffix('_ms').upper()} (ms)"


def _sure(row: Row) -> str:
    if row.ratio.low is None or row.ratio.high is None:
        return "not known"
    ends = sorted(
        (row.ratio.low - 1, row.ratio.high - 1) if row.higher_is_better else (1 - row.ratio.high, 1 - row.ratio.low)
    )
    return f"{row.verdict}, {ends[0]:+.1%} to {ends[1]:+.1%}"
