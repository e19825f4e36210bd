"""What a shell leaves of a value: `${MODEL##*/}` is its last part, `${IMAGE%%:*}` what stands before its tag."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.shell.scope import Scope

_TRIMMED: Final = re.compile(
    r"\$\{(?P<name>[A-Za-z_]\w*)(?P<sign>##?|%%?)(?P<pattern>[^{}$`\"'\\\[\]!]{1,40})\}", re.ASCII
)
_LONGEST: Final = 500
"""Of a value whose beginnings or ends are compared with the pattern."""


def trimmed(written: str, scope: Scope) -> str | None:
    """None where it is something else, or the value is not known."""
    match = _TRIMMED.fullmatch(written)
    value = scope.variables.get(match["name"]) if match is not None else None
    if match is None or not isinstance(value, Word) or value.unresolved or not value.text or len(value.text) > _LONGEST:
        return None
    text, sign = value.text, match["sign"]
    lengths = range(len(text) + 1) if len(sign) == 1 else range(len(text), -1, -1)
    for length in lengths:
        part = text[:length] if sign[0] == "#" else text[len(text) - length :]
        if fnmatchcase(part, match["pattern"]):
            return text[length:] if sign[0] == "#" else text[: len(text) - length]
    return text
