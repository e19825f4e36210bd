"""Two runs as a table, as the published gain analyses have it, with how sure each change is."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from moonpad.bench.compare import P99_REQUESTS, ComparedFigure, Comparison
from moonpad.report.plain_text import aligned
from moonpad.values.visible_text import shell_word

NAMES: Final = {
    "request_throughput": "Request throughput (req/s)",
    "output_throughput": "Output token throughput (tok/s)",
    "total_token_throughput": "Total token throughput (tok/s)",
}
WORDS: Final = (0, 5)
"""Columns of words, to the left; the others are figures."""
STYLES: Final = {"better": "green", "worse": "red", "no difference shown": "", "unknown": "dim"}


def compare_table(comparison: Comparison) -> Text:
    """One line per figure, however wide: a wrapped line is better than a truncated figure."""
    head = ("Metric", "A", "B", "Change", "Gain", "Confidence")
    styles = ["bold", *(STYLES[row.verdict] for row in comparison.rows)]
    text = Text()
    for cells, style in zip(aligned([head, *map(_cells, comparison.rows)], WORDS), styles, strict=True):
        text.append("  ".join(cells).rstrip() + "\n", style=style)
    text.rstrip()
    return text


def _cells(row: ComparedFigure) -> tuple[str, ...]:
    change = f"{row.second - row.first:+,.2f}"
    return (_label(row.name), f"{row.first:,.2f}", f"{row.second:,.2f}", change, f"{row.gain:+.1%}", _sure(row))


def compare_notes(comparison: Comparison) -> list[str]:
    """What a reader must know before trusting the table."""
    notes = [f"A: {comparison.first}", f"B: {comparison.second}"]
    notes += [
        f"{name} is partial; complete it with moonpad bench --resume {shell_word(name)}" for name in comparison.partial
    ]
    if comparison.paired:
        notes.append(f"{comparison.paired} requests are the same in both and were compared pair by pair")
    elif any(row.ratio.differs is not None for row in comparison.rows):
        notes.append("the requests may differ, so the runs were compared as two independent samples")
    else:
        notes.append("individual requests were not saved, so no change has a confidence interval")
    latencies = [row for row in comparison.rows if row.name in ("mean_ttft_ms", "p99_ttft_ms")]
    if [row.ratio.differs is None for row in latencies] == [False, True]:
        notes.append(f"a P99 needs at least {P99_REQUESTS} requests for a confidence interval")
    first, second = comparison.tokens
    if not comparison.same_length and first is not None and second is not None:
        notes.append(f"answers have {first:.1f} and {second:.1f} tokens: token throughputs are not comparable")
        if comparison.split:
            requests, tokens = comparison.split
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


def _sure(row: ComparedFigure) -> str:
    if row.ratio.low is None or row.ratio.high is None:
        return "unknown"
    low, high = row.ratio.low - 1, row.ratio.high - 1
    if not row.higher_is_better:
        low, high = -high, -low
    return f"{row.verdict}, {low:+.1%} to {high:+.1%}"
