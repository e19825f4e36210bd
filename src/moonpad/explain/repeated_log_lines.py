"""A server's log over hours: the lines that it writes again and again are emptied before the text is read."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

LOG_BYTES: Final = 4_000_000
"""Hours of a server's log. What is left of it may be as long as any text."""
_SHORT: Final = 64_000
"""Characters up to which a text is read as it is."""
_KEPT: Final = 20
"""Lines of one form that are read: all that a start writes for each of 16 workers, and some more."""
_LOG_LINES: Final = 200
"""As many lines must be those of a log."""
_LOG_LINE: Final = re.compile(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|(?:\([^)\n]{1,60}\) ){0,2}(?:INFO|WARNING|DEBUG|ERROR)\b|"
    r"[\w.-]{1,60} +\| +(?:\([^)\n]{1,60}\) ){0,2}(?:INFO|WARNING|DEBUG|ERROR|\[?\d{4}-)|"
    r"(?:\[[^\]\n]{1,40}\] ){0,2}\[?\d\d[/-]\d\d[/-]\d{4}-\d\d:\d\d)",
    re.MULTILINE,
)
_NUMBER: Final = re.compile(r"0x[\da-f]+|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\b[\da-f]{16,}\b|\d+(?:\.\d+)?")
_COMPARED: Final = 200
"""Characters of a line by which its form is known."""


def without_repeats(text: str) -> str:
    """The text of a long log in which every line of a form (the line without its numbers) that has stood twenty times
    before is empty, so that all others keep their line numbers. Any other text as it is."""
    if len(text) <= _SHORT or sum(1 for _ in _LOG_LINE.finditer(text)) < _LOG_LINES:
        return text
    seen: Counter[str] = Counter()
    lines = text.split("\n")
    for number, line in enumerate(lines):
        form = _NUMBER.sub("0", line[:_COMPARED])
        seen[form] += 1
        if seen[form] > _KEPT and _is_spoken(line, form):
            lines[number] = ""
    return "\n".join(lines)


def _is_spoken(line: str, form: str) -> bool:
    """Whether it may be emptied: a command that goes on behind the line is none of a log's."""
    return bool(form.strip()) and not line.rstrip().endswith("\\")
