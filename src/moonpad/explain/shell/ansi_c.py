"""What stands in `$'…'`: hexadecimal and octal numbers and letters behind a backslash."""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.S)
_NAMED: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def unescaped(text: str) -> str:
    """The characters that bash makes of it."""
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    kind = match.lastindex or 0
    text: str = match[kind]
    if kind == 5:
        return _NAMED.get(text, text if text in "\\'\"?" else f"\\{text}")
    code = int(text, 8) & 0xFF if kind == 4 else int(text, 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else "\ufffd"
