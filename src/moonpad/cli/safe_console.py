"""rich's console, with each text made safe before it is measured, wrapped and styled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from moonpad.values.redaction import REDACTED, redact, secret_spans
from moonpad.values.visible_text import hidden_spans, visible


class SafeConsole(Console):
    """Nothing that is printed here holds a known secret or moves the cursor, but for rich's own codes."""

    @property
    def file(self) -> IO[str]:
        """Of a guarded stream the side that takes rich's codes, also while a bar stands before it."""
        stream: IO[str] = super().file
        return getattr(stream, "rich_proxied_file", stream)

    @file.setter
    def file(self, stream: IO[str]) -> None:
        self._file = stream

    def render_str(self, text: str, **options: Any) -> Text:
        """A text of ours or a cell: before rich takes the control characters that it knows out of it."""
        return super().render_str(visible(redact(text)), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, Text):
            secrets = [(start, end, REDACTED) for start, end in secret_spans(renderable.plain)]
            renderable = _replaced(renderable, secrets)
            renderable = _replaced(renderable, hidden_spans(renderable.plain))
        return super().render(renderable, options)


def _replaced(text: Text, spans: list[tuple[int, int, str]]) -> Text:
    """Each span with its other text, in the style of its first character."""
    if not spans:
        return text
    safe, at = text.blank_copy(), 0
    for start, end, other in spans:
        safe.append_text(text[at:start])
        piece = Text(other)
        for span in text[start : start + 1].spans:
            piece.stylize(span.style)
        safe.append_text(piece)
        at = end
    return safe.append_text(text[at:])
