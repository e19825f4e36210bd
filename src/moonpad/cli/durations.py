"""Durations as options of the command line take them."""

from __future__ import annotations

from moonpad.spec.safe_text import parse_duration
from moonpad.values.errors import UsageError


def duration_s(option: str, text: str, example: str) -> float:
    """Seconds. `example` is a value that the message proposes. Raises UsageError."""
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}", remedy=f"{option} {example}") from None
