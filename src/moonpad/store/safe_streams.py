"""Standard output and error as all of the program has them: the last place that a text passes, whoever prints it."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from moonpad.values.redaction import redact, remember_environment, remember_words
from moonpad.values.visible_text import visible

if TYPE_CHECKING:  # the keeper takes this file to other hosts, with Python ≥ 3.9
    from typing import TextIO


class SafeStream:
    """A text stream that writes no known secret, and what is hidden in a text as escapes."""

    def __init__(self, stream: TextIO, *, is_styled: bool = False) -> None:
        self._stream = stream
        self._is_styled = is_styled
        self.rich_proxied_file: SafeStream = self if is_styled else SafeStream(stream, is_styled=True)
        """rich's consoles look for this name and write there: the codes are their own, and SafeConsole has made the
        texts between them visible."""

    def write(self, text: str) -> int:
        shown = redact(text)
        self._stream.write(shown if self._is_styled else visible(shown))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def guard_streams(words: list[str] | None = None) -> None:
    """From here on what is printed is safe, tracebacks too. The secrets of the environment and of the command line are
    known."""
    remember_environment(os.environ, os.path.exists)
    remember_words(words or [])
    if not isinstance(sys.stdout, SafeStream):
        sys.stdout, sys.stderr = (SafeStream(_robust(stream)) for stream in (sys.stdout, sys.stderr))


def _robust(stream: TextIO | None) -> TextIO:
    if isinstance(stream, TextIOWrapper):  # a terminal that is not UTF-8 costs letters, and no traceback
        stream.reconfigure(errors="backslashreplace")
    return stream or open(os.devnull, "w")  # noqa: PTH123 - it was closed (`>&-`); until the process ends
