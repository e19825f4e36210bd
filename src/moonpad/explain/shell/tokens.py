"""Words and operators as the lexer finds them, before anything is expanded. Offsets are those of the lexed source."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from msgspec import Struct


class LiteralText(NamedTuple):
    """`text[start:end]` of the source after quotes and escapes; `quoted` text is never split, nor a reserved word."""

    text: str
    start: int
    end: int
    quoted: bool


class Variable(NamedTuple):
    """`$NAME`, `${NAME}`, `${NAME:-operand}`, `${NAME[subscript]}`. Other operators are Opaque."""

    name: str
    subscript: str
    operator: str
    operand: tuple[Segment, ...]
    start: int
    end: int
    quoted: bool


class Opaque(NamedTuple):
    """Known only at run time: `$(nproc)`, `${A%%x}`, `<YOUR_MODEL_DIR>`. `arithmetic` is the inside of `$((…))`."""

    name: str
    start: int
    end: int
    quoted: bool
    arithmetic: str | None = None


class Array(NamedTuple):
    """The inside of `NAME=( … )`."""

    words: tuple[Token, ...]
    start: int
    end: int


Segment = LiteralText | Variable | Opaque | Array


class Here(NamedTuple):
    """The body of a heredoc. `segments` are to be expanded unless its end mark was quoted."""

    segments: tuple[Segment, ...]
    start: int
    end: int
    strip_tabs: bool


class Token(Struct):
    kind: Literal["word", "op", "newline", "redirect", "comment", "end"]
    text: str
    """Of a word only where nothing in it is quoted or expanded: only then can it be a reserved word."""
    start: int
    end: int
    segments: tuple[Segment, ...] = ()
    """Of a word; of a redirect those of its target."""
    here: Here | None = None
    own_line: bool = False
    """Of a comment: nothing stands before it on its line."""


_NOTHING: Final = re.compile(
    r"`\s*(?:#[^`\n]*(?:\n\s*|(?=`)))*`|\$\(\s*(?:#[^\n]*\n\s*)*\)"
    r"|(?:`|\$\()\s*(?::|true)(?:\s[^`;|&<>$()\n]*)?[`)]"
)


def substituted(written: str, start: int, end: int, quoted: bool) -> Segment:
    """A substitution; no text where it holds a comment alone, `` `# GPUs` `` and `$(: GPUs)`, as authors put one behind
    an argument."""
    if _NOTHING.fullmatch(written):
        return LiteralText("", start, end, quoted)
    return Opaque(written, start, end, quoted)
