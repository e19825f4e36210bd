"""Whether a pattern is anywhere in a text: asked again for each command and each of its corrections, searched once."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=4096)
def is_in_lines(pattern: re.Pattern[str], lines: tuple[str, ...], longest: int) -> bool:
    """In the first `longest` characters of a line; what is behind them is data, not prose."""
    return any(pattern.search(line) for line in {line[:longest] for line in lines})
