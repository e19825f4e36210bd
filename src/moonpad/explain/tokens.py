"""Words and operators as the lexer finds them, before anything is expanded. Offsets are those of the lexed source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple


class Text(NamedTuple):
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
    """What only running would tell: `$(nproc)`, `${A%%x}`, `<YOUR_MODEL_DIR>`. `arithmetic`: the inside of `$((…))`."""

    name: str
    start: int
    end: int
    quoted: bool
    arithmetic: str | None = None


class Array(NamedTuple):
    """The inside of `NAME=( … )`."""

    words: tuple[RawWord, ...]
    start: int
    end: int


Segment = Text | Variable | Opaque | Array


class RawWord(NamedTuple):
    segments: tuple[Segment, ...]
    start: int
    end: int

    @property
    def plain(self) -> str | None:
        """Its text where nothing of it is quoted or expanded: only then can it be a reserved word."""
        if len(self.segments) == 1 and isinstance(text := self.segments[0], Text) and not text.quoted:
            return text.text
        return None


class Here(NamedTuple):
    """The body of a heredoc. `segments` are to be expanded unless its end mark was quoted."""

    segments: tuple[Segment, ...]
    start: int
    end: int
    strip_tabs: bool


Kind = Literal["word", "op", "newline", "redirect", "comment"]


@dataclass(slots=True)
class Token:
    kind: Kind
    text: str
    start: int
    end: int
    word: RawWord | None = None
    """Of a word; of a redirect its target."""
    here: Here | None = None
    own_line: bool = False
    """Of a comment: nothing stands before it on its line."""
