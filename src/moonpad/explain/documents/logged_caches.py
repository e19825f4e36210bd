"""The memory that a log in the text says is there for the KV cache: what is computed of it is no longer needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.documents.line_search import is_in_lines

_LOGGED: Final = re.compile(
    r"\bKV cache is needed\b.{0,80}\bavailable KV cache memory\b|\bAvailable KV cache memory: ?-?\d"
    r"|\bGPU KV cache size: ?\d"
)
_ANSWERS: Final = re.compile(
    r"\b(?:comes?|came) (?:back|out) as\b"
    r"|\b(?:answers?|outputs?|replies|completions?)\b[^.\n]{0,40}\b(?:are|is|were|was|become"
    r"|repeat)\b|\bgibberish\b|\bgarbage\b|\btok(?:en)?s?[ /](?:a |per )?s(?:ec|econd)?\b|\bgsm8k\b",
    re.IGNORECASE,
)
_LONGEST: Final = 2000


def tells_of_cache(lines: Sequence[str]) -> bool:
    return is_in_lines(_LOGGED, tuple(lines), _LONGEST)


def tells_of_answers(lines: Sequence[str]) -> bool:
    """Of a server that answers, whatever it says: its command started."""
    return is_in_lines(_ANSWERS, tuple(lines), _LONGEST)
