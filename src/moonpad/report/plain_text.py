"""Plain text for terminals and Markdown: aligned columns, hanging lines, and text of others made harmless."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence

from moonpad.values.redaction import redact
from moonpad.values.visible_text import visible


def aligned(rows: Sequence[Sequence[str]], left: Collection[int]) -> list[list[str]]:
    """Each cell padded to the width of its column, in the columns `left` on the right, in others on the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        [
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 0) -> str:
    """The first `words` columns are words, to the left; the others figures."""
    head_cells, *cells = aligned((head, *rows), range(words))
    rule = ["-" * len(cell) if at < words else "-" * (len(cell) - 1) + ":" for at, cell in enumerate(head_cells)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head_cells, rule, *cells))


def hanging(text: str, indent: int, width: int) -> str:
    """Wrapped at `width` columns; every line but the first is indented."""
    lines = textwrap.wrap(text, max(20, width - indent), break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * indent).join(lines)


def shown(text: object) -> str:
    """Text of others for a page, XML or a table: without a known secret, and with what hides in it as escapes."""
    return visible(redact(str(text)))
