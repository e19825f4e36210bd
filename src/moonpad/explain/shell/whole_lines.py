"""Lines of a text with those that a backslash joins to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.commands import Script
from moonpad.explain.shell.own_lines import numbered

_LONGEST: Final = 4000
_COMMENT: Final = re.compile(r"[ \t]*(?:#|//)")


def whole_lines(script: Script) -> Iterator[tuple[int, str]]:
    """Each with the number of its first line. Comments are left out, also those between joined lines of a Dockerfile,
    and in a document lines with inline code."""
    start, joined = 0, ""
    for number, text in numbered(script, 1, len(script.lines)):
        if _COMMENT.match(text) or (script.markdown and "`" in text):
            continue
        start, more = start or number, text.rstrip()
        if more.endswith("\\") and len(joined) < _LONGEST:
            joined += f"{more[:-1]} "
            continue
        yield start, joined + more
        start, joined = 0, ""
    if joined:
        yield start, joined
