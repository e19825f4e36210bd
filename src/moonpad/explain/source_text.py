"""The text that is read: cleaned without moving a character, and where each offset of it stands."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from moonpad.explain.commands import Piece, Problem, Word
from moonpad.explain.input_limits import NAMES, PROBLEMS, TEXT_BYTES, Budget, too_large
from moonpad.values.records import replace

IGNORED: Final = "\0"
"""Stands where a character was that no shell word should hold; the lexer skips it."""

_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_])?")
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_SPACE: Final = re.compile("[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_CONTROL: Final = {
    **dict.fromkeys((*range(0x09), *range(0x0E, 0x20), *range(0x7F, 0xA0)), IGNORED),
    **dict.fromkeys((0x0B, 0x0C, 0x0D, 0x85), " "),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
_TEMPLATE_COMMENT: Final = re.compile(r"(?<![$\w\"'`{(\[])\{#-?(?=\s)")
_LONGEST: Final = 300
"""As far into its line the sign of a comment is looked for."""
_NAMED: Final = re.compile(r"\$(?:\{([A-Za-z_]\w*)|([A-Za-z_]\w*))", re.ASCII)
_NOT_A_BREAK: Final = re.compile(r"[^\n]")


class InputText:
    """The whole input. `clean` has its length (after CRLF became LF) and its lines; `budget` is what it may cost."""

    def __init__(self, text: str, budget: Budget | None = None) -> None:
        """Raises UsageError beyond 1 MB."""
        self.budget = budget or Budget()
        self.stand_ins: dict[str, str] = {}
        """Names that stand for templates while YAML is read, and what was written."""
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > TEXT_BYTES:
            message = f"the script has {size:,} bytes; the limit is {TEXT_BYTES:,}"
            raise too_large(message, "pass only the part with the command")
        # Each character is looked at by some hundred patterns, each line by as many more, whatever the text holds.
        self.budget.work(len(text) // 3 + 6 * text.count("\n") + text.count("\x1b"), "its text")
        text = _ANSI.sub(lambda match: IGNORED * len(match.group()), text.replace("\r\n", "\n"))
        self.odd = [(match.start(), match.group()) for match in _INVISIBLE.finditer(text, 1)]
        self.odd += [(match.start(), match.group()) for match in _SPACE.finditer(text)]
        self.odd.sort()
        self.budget.work(len(self.odd), "its invisible characters")
        text = _SPACE.sub(" ", _INVISIBLE.sub(IGNORED, text))
        self.clean: str = text.translate(_CONTROL)
        self._starts = [0, *(match.end() for match in re.finditer("\n", self.clean))]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.clean.replace(IGNORED, " ").split("\n"))

    def odd_in(self, start: int, end: int) -> Sequence[tuple[int, str]]:
        """Offset and character of what is invisible, or an unusual blank, in `clean[start:end]`."""
        return self.odd[bisect_left(self.odd, (start, "")) : bisect_left(self.odd, (end, ""))]

    def in_comment(self, offset: int) -> bool:
        """Whether a comment of the shell begins before it in its line, and no quote before that."""
        line = self._starts[bisect_right(self._starts, offset) - 1]
        sign = self.clean.find("#", line, min(offset, line + _LONGEST))
        before = self.clean[line:sign] if sign >= 0 else "?"
        return before[-1:] in ("", " ", "\t", ";", "&", "|") and not {*"'\"`"} & {*before}

    def place(self, offset: int) -> tuple[int, int]:
        """Line from 1, column from 0."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def offset(self, line: int) -> int:
        """Where a line begins that is counted from 0; the end of the text for one behind the last."""
        return self._starts[line] if line < len(self._starts) else len(self.clean)

    def word(self, text: str, start: int, end: int, pieces: Sequence[Piece] = ()) -> Word:
        """A word at the offsets `start:end`."""
        return Word(text, *self.place(start), *self.place(max(start, end)), pieces=tuple(pieces))


def without_template_comments(text: str) -> str:
    """Blanks in the place of Jinja's `{# … #}`, which no shell reads, however many lines it has."""
    parts, done = [], 0
    while (begin := _TEMPLATE_COMMENT.search(text, done)) is not None:
        end = text.find("#}", begin.end())
        if end < 0:
            break
        parts += [text[done : begin.start()], _NOT_A_BREAK.sub(" ", text[begin.start() : end + 2])]
        done = end + 2
    return "".join((*parts, text[done:])) if parts else text


class Problems:
    """Collects up to 200 of them."""

    def __init__(self, text: InputText) -> None:
        self._text = text
        self.items: list[Problem] = []

    def has_in_text(self, part: str) -> bool:
        return part in self._text.clean

    def add(self, code: str, start: int, end: int, message: str, remedy: str = "") -> None:
        """`start` and `end` are offsets in the whole text."""
        if len(self.items) < PROBLEMS:
            line, column = self._text.place(start)
            end_line, end_column = self._text.place(end)
            end_column = end_column if end_line == line else column + 1
            self.items.append(Problem(code, line, column, max(end_column, column + 1), message, remedy))


class Source:
    """A text that is lexed: a block of the whole, or a string inside it that is itself a command.

    `pieces` say where each part of it stands in the whole text; they cover it from its first character to its last.
    """

    def __init__(self, text: str, whole: InputText, pieces: Sequence[Piece]) -> None:
        self.text = text
        self.whole = whole
        self._pieces = tuple(pieces) or (Piece(0, len(text), 0, 0),)
        self._starts = [piece.start for piece in self._pieces]
        self.echo_escapes = False
        """Whether `echo` makes a line's end of `\\n` by itself, as that of the `sh` of a Dockerfile's RUN does."""
        self.unknown: tuple[str, ...] = ()
        """What another shell puts into this text before it is read, and is not known: single quotes here keep none of
        it."""
        self.literals: dict[int, tuple[object, tuple[Word, ...]]] = {}
        """Where a word of it begins that is the same however often it is read: its token, and what a shell makes of
        it."""

    @classmethod
    def block(cls, whole: InputText, start: int, text: str) -> Source:
        """A part of the whole text from the offset `start`; `text` may have characters blanked, never moved."""
        return cls(text, whole, (Piece(0, len(text), start, start + len(text)),))

    @classmethod
    def inside(cls, word: Word, whole: InputText) -> Source:
        """The text of a word, as a command of its own."""
        source = cls(word.text, whole, word.pieces)
        source.unknown = word.unresolved
        return source

    @property
    def in_pieces(self) -> bool:
        """Whether its lines stand in the whole text otherwise than here."""
        return len(self._pieces) > 1

    def unknown_in(self, text: str) -> tuple[str, ...]:
        """Those that stand in a part of it, `$NAME` or the whole of `$(hostname -i)`."""
        if not self.unknown or ("$" not in text and "`" not in text):
            return ()
        named = dict.fromkeys(match[1] or match[2] for match in _NAMED.finditer(text))
        if len(self.unknown) == NAMES:  # no more of them are kept
            return tuple(named)[:NAMES]
        return tuple(name for name in self.unknown if name in named or (not name.isidentifier() and name in text))

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The offsets in the whole text of `text[start:end]`."""
        first = self._piece(start)
        origin = first.source_start + (start - first.start if first.exact else 0)
        if end <= start:
            return origin, origin
        last = self._piece(end - 1)
        return origin, (last.source_start + end - last.start if last.exact else last.source_end)

    def word(self, text: str, start: int, end: int, unresolved: Sequence[str] = ()) -> Word:
        """The word that stands at `start:end` of this source."""
        return replace(self.whole.word(text, *self.origin(start, end)), unresolved=tuple(unresolved))

    def _piece(self, offset: int) -> Piece:
        return self._pieces[max(0, bisect_right(self._starts, offset) - 1)]
