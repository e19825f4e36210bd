"""Text of others (models, servers, files, names), as a terminal may show it.

What moves the cursor, hides text, or turns the direction of what follows is written as an escape: `\\x1b`, `\\u202e`.
All that a language writes stays: a joiner in an emoji or between letters of Arabic or an Indic script, a variation
selector behind the symbol that it varies.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Final

_JOINING: Final = "\u0600-\u07bf\u0840-\u085f\u08a0-\u08ff\u0900-\u109f\u1780-\u17b3\u17b6-\u18aa"
_SYMBOLS: Final = "#*0-9\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_EMOJI: Final = "\u2190-\u2bff\U0001f000-\U0001faff"
_HIDDEN: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\ue000-\uf8ff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
    "]"
    f"|(?<![{_SYMBOLS}])[\ufe0e\ufe0f]|(?<![{_JOINING}])\u200c|(?<![{_JOINING}{_EMOJI}\ufe0f])\u200d"
    "|(?<![\u1820-\u18aa])[\u180b-\u180d\u180f]"
)
"""Newlines and tabs are not among them, nor is U+FFFD, which stands for a byte that could not be decoded."""


def visible(text: str) -> str:
    """The text with what is hidden in it as escapes."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _escaped(text, escape_of)


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    """Line by line, since no match reaches over one: most lines are plain, which is known a hundred times faster."""
    return "\n".join(
        line if line.isascii() and line.isprintable() else _HIDDEN.sub(lambda match: escape(match[0]), line)
        for line in text.split("\n")
    )


def one_line(text: str) -> str:
    """As `visible`, a newline and a tab as escapes too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def visible_json(text: str) -> str:
    """A JSON document as text, with what is hidden in its strings in JSON's own escapes: it says what it said."""
    return text if text.isascii() and "\x7f" not in text else _escaped(text, _utf16)


def hidden_spans(text: str) -> list[tuple[int, int, str]]:
    """Where something is hidden, and its escape."""
    if text.isascii() and text.isprintable():
        return []
    return [(*match.span(), escape_of(match[0])) for match in _HIDDEN.finditer(text)]


def is_visible(text: str) -> bool:
    """Whether nothing is hidden in it, and it has no newline and no tab."""
    return (text.isascii() and text.isprintable()) or one_line(text) == text


def escape_of(char: str, *, bytes_only: bool = False) -> str:
    """As Python writes it. A byte of a file name that is no UTF-8 is that byte; `bytes_only`: `\\x` means nothing else,
    as in bash."""
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < (0x80 if bytes_only else 0x100):
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shell_word(word: object) -> str:
    """The word as a shell reads it again, also where it is pasted: what is hidden in it stands in `$'…'` as escapes."""
    text = str(word)
    if is_visible(text):
        return shlex.quote(text)
    quoted = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    return f"$'{_HIDDEN.sub(lambda match: escape_of(match[0], bytes_only=True), quoted)}'"


def _utf16(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
