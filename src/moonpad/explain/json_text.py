"""What gets into JSON from other languages: comments, a comma before a closing bracket, Python's True, False, None."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"|(?P<comment>(?:#|//)[^\n]*)|(?P<comma>,(?=\s*(?:(?:#|//)[^\n]*\n\s*)*[}\]]))"
    r"|(?<![\w.])(?P<python>True|False|None)(?![\w.(])"
)
_PYTHON: Final[Mapping[str, str]] = {"True": "true", "False": "false", "None": "null"}
_KINDS: Final = ("comment", "comma", "python")


class Foreign(NamedTuple):
    """Something that JSON does not have: its kind (comment, comma, python), where it begins and what is written."""

    kind: str
    start: int
    text: str


def without_foreign(text: str) -> tuple[str, tuple[Foreign, ...]]:
    """The text as JSON has it, and what was foreign in it. What stands within double quotes is kept."""
    found: list[Foreign] = []

    def mended(match: re.Match[str]) -> str:
        kind = next((name for name in _KINDS if match[name] is not None), "")
        if not kind:
            return match[0]
        found.append(Foreign(kind, match.start(), match[0].rstrip()))
        return _PYTHON.get(match[0], "")

    return _TOKEN.sub(mended, text), tuple(found)
