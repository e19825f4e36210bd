"""Durations as people write them: `10s`, `500ms`, `2m`, `1h`."""

from __future__ import annotations

import re
from typing import Final

from moonpad.spec.safe_text import shorten

_DURATION: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m|h)", re.ASCII)
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """Seconds.

    Raises:
        ValueError: the text is no number followed by ms, s, m or h; the message says so.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f'write a duration like 10s, 500ms or 2m, not "{shorten(text)}"')
    return float(match[1]) * _SECONDS[match[2]]
