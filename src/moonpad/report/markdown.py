"""A table in Markdown, so that it can be pasted, with its columns aligned, so that it can be read."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 0) -> str:
    """The first `words` columns are words, to the left; the others figures."""
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = (
            f"{cell:<{width}}" if at < words else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {' | '.join(cells)} |"

    rule = ["-" * width if at < words else "-" * (width - 1) + ":" for at, width in enumerate(widths)]
    return "\n".join((line(head), line(rule), *map(line, rows)))
