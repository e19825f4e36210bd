"""Texts of the user that end up on a command line."""

from __future__ import annotations

import unicodedata
from typing import Final

SHOWN_CHARS: Final = 60

# Control characters, lone surrogates, line and paragraph separators: invisible, and some of them end a line.
_REFUSED = frozenset({"Cc", "Cs", "Zl", "Zp"})


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
    if text.startswith("-"):
        raise ValueError(f'must not start with "-", which would make it an option: "{shorten(text)}"')
    return refuse_invisible(text)
