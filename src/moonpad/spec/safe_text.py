"""Texts of the user: as a message repeats them, as a command line may hold them, and as durations."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

SHOWN_CHARS: Final = 60

MAX_CHARS: Final = 4096
"""Of a path on Linux; nothing that a spec names is longer."""

# Control characters, lone surrogates, line and paragraph separators: invisible, and some of them end a line.
_REFUSED: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})

_DURATION: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m|h)", re.ASCII)
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def shorten(text: str) -> str:
    """The text as a message may repeat it."""
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"


def refuse_invisible(text: str) -> str:
    """The text itself. Raises ValueError where it holds a control character, a newline among them."""
    for char in text:
        if unicodedata.category(char) in _REFUSED:
            raise ValueError(f"holds the control character U+{ord(char):04X}; take it out")
    return text


def refuse_option(text: str) -> str:
    """The text itself. Raises ValueError where it is empty, or would be read as an option (fault 52)."""
    if not text.strip():
        raise ValueError("is empty")
    if len(text) > MAX_CHARS:
        raise ValueError(f"has {len(text):,} characters; the limit is {MAX_CHARS:,}")
    if text.startswith("-"):
        raise ValueError(f'must not start with "-", which would make it an option: "{shorten(text)}"')
    return refuse_invisible(text)


def parse_duration(text: str) -> float:
    """Seconds of `10s`, `500ms`, `2m` or `1h`.

    Raises:
        ValueError: the text is not a number followed by ms, s, m or h; the message says so.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f'write a duration like 10s, 500ms or 2m, not "{shorten(text)}"')
    return float(match[1]) * _SECONDS[match[2]]
