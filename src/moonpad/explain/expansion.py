"""Variables and the words that come out of them, without running anything.

What the script itself does not say stays as it is written, and the word names it as unresolved. The environment of
whoever runs the script is unknown: `${TP:-8}` is 8 unless the script sets TP.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from moonpad.explain.arithmetic import evaluate
from moonpad.explain.commands import Piece, Word
from moonpad.explain.input_limits import NAMES, Budget
from moonpad.explain.source_text import IGNORED, Source
from moonpad.explain.tokens import Array, Here, LiteralText, Opaque, Segment, Token, Variable

Value = Word | tuple[Word, ...]
"""A scalar or an array."""

_BLANK: Final = re.compile(r"[ \t\n]")
_FIELD: Final = re.compile(r"[^ \t\n]+")


class Variables(ChainMap[str, Value]):
    """Names and values, in layers: a branch that may not run writes into a layer of its own."""

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        super().__init__(dict(values or {}))
        self.arguments: tuple[Word, ...] | None = ()
        """`$1`, `$2` …; None where they are unknown."""
        self._arguments_outside: list[tuple[Word, ...] | None] = []

    def push(self) -> None:
        self.maps.insert(0, {})
        self._arguments_outside.append(self.arguments)

    def pop_layer(self) -> Mapping[str, Value]:
        self.arguments = self._arguments_outside.pop()
        return self.maps.pop(0)

    def join(self, branches: Sequence[Mapping[str, Value]], exhaustive: bool) -> None:
        """After branches of which one ran, or none where they are not exhaustive: what differs becomes unresolved.

        A variable that had no value before has that of the branch (`if [ -z "$TP" ]; then TP=8; fi`). One that had
        keeps it where the branch knows no better (`case $1 in --tp) TP=$2`) or only adds to it (`ARGS+=(--verbose)`):
        what is added under a condition is left out.
        """
        for name in dict.fromkeys(name for branch in branches for name in branch):
            values = [branch[name] for branch in branches if name in branch]
            before = self.get(name)
            if before is not None and not (exhaustive and len(values) == len(branches)):
                others = [value for value in values if _known(value) or not _known(before)]
                values = [before, *(value for value in others if not _extends(value, before))]
            self[name] = _merged(name, before, values)


def _extends(value: Value, before: Value) -> bool:
    if isinstance(value, tuple) and isinstance(before, tuple):
        return [word.text for word in value[: len(before)]] == [word.text for word in before]
    if isinstance(value, tuple) or isinstance(before, tuple):
        return False
    return before.text != "" and value.text.startswith(before.text)


def _merged(name: str, before: Value | None, values: Sequence[Value]) -> Value:
    """The one value of all branches; where they only add different things to what there was, that and a marker."""
    if all(_text(value) == _text(values[0]) for value in values):
        return values[0]
    marker = unresolved(name, values[0])
    if isinstance(before, tuple) and all(_extends(value, before) for value in values):
        return (*before, marker)
    return marker


def unresolved(name: str, at: Value) -> Word:
    """The value of a variable that is not known; `at` is where it was set."""
    word = at if isinstance(at, Word) else (at[0] if at else Word(""))
    return replace(word, text=f"${name}", unresolved=(name,), pieces=())


class Expander:
    """Expands the words of one source. Substituted text is paid for from the budget."""

    def __init__(self, source: Source, variables: Variables, budget: Budget) -> None:
        self.source, self.variables, self.budget = source, variables, budget

    def fields(self, token: Token) -> list[Word]:
        """What a shell makes of a word of a command: none, one or several."""
        fields = _FieldBuilder(self.source, token.start, token.end)
        for segment in token.segments:
            self._expand(segment, fields, split=True)
        return fields.finish()

    def scalar(self, segments: Sequence[Segment], start: int, end: int) -> Word:
        """The same without splitting, as for assignments; `start:end` is what the word stands for."""
        fields = _FieldBuilder(self.source, start, end)
        fields.exists = fields.written_here = True
        for segment in segments:
            self._expand(segment, fields, split=False)
        return fields.finish()[0]

    def array(self, array: Array) -> tuple[Word, ...]:
        return tuple(word for token in array.words for word in self.fields(token))

    def here(self, here: Here) -> Word:
        """The body of a heredoc."""
        word = self.scalar(here.segments, here.start, here.end)
        if not here.strip_tabs:
            return word
        return replace(word, text=re.sub(r"^\t+", "", word.text, flags=re.M), pieces=())

    # --- segments ---

    def _expand(self, segment: Segment, fields: _FieldBuilder, *, split: bool) -> None:
        match segment:
            case LiteralText(text, start, end, quoted):
                fields.add(text, start, end, quoted)
            case Opaque(name, start, end):
                value = None if segment.arithmetic is None else evaluate(segment.arithmetic, self._number)
                fields.add(name if value is None else str(value), start, end, True, (name,) if value is None else ())
            case Variable():
                self._variable(segment, fields, split)
            case Array(_, start, end):
                fields.add(self._written(start, end), start, end, True)

    def _number(self, name: str) -> str | None:
        value = self.variables.get(name)
        return value.text if isinstance(value, Word) and not value.unresolved else None

    def _variable(self, segment: Variable, fields: _FieldBuilder, split: bool) -> None:
        value = self._value(segment)
        if segment.operator:
            fields.exists |= segment.quoted
            value = self._operated(segment, value, fields, split and not segment.quoted)
        if isinstance(value, tuple) and (not split or (segment.quoted and "*" in (segment.subscript, segment.name))):
            value = join_words(value)
        if isinstance(value, tuple):
            self.budget.spend(len(value), sum(len(word.text) for word in value))
            fields.append_all(value, segment.start, segment.end)
        elif value is not None:
            split = split and not segment.quoted
            self.budget.spend(len(value.text.split()) if split else 1, len(value.text))
            fields.substitute(value, segment.start, segment.end, split)

    def _value(self, segment: Variable) -> Value | None:
        """What it stands for without its operator; None where nothing does, and the operator decides."""
        name, index, arguments = segment.name, segment.subscript, self.variables.arguments
        value = self.variables.get(name)
        if name in ("@", "*"):
            value, index = arguments, "@"
        elif name.isdigit() and name.strip("0") and arguments is not None:
            value, index = (Word(""), *arguments), name
        if isinstance(value, tuple):
            if index not in ("@", "*"):
                index = index or "0"
                at = int(index) if index.isascii() and index.isdigit() and len(index) < 9 else len(value)
                value = value[at] if at < len(value) else None
        elif index not in ("", "0", "@", "*"):
            value = None
        return self._marker(segment) if value is None and not segment.operator else value

    def _operated(self, segment: Variable, value: Value | None, fields: _FieldBuilder, split: bool) -> Value | None:
        """The value to be substituted; None where the operand was, or nothing is."""
        operator = segment.operator.removeprefix(":")
        is_set = value is not None and (_text(value) != "" or operator == segment.operator)
        if is_set == (operator == "+"):
            if operator == "?":
                return self._marker(segment)
            if operator == "=":
                self.variables[segment.name] = self.scalar(segment.operand, segment.start, segment.end)
            self._operand(segment, fields, split)
            return None
        return value if is_set else None

    def _operand(self, segment: Variable, fields: _FieldBuilder, split: bool) -> None:
        """The default, in the place of the variable: split like it, where it is not quoted."""
        if not split:
            for inner in segment.operand:
                self._expand(inner, fields, split=False)
            return
        value = self.scalar(segment.operand, segment.start, segment.end)
        quoted = all(isinstance(inner, LiteralText) and inner.quoted for inner in segment.operand)
        fields.substitute(value, segment.start, segment.end, split=not quoted)

    def _marker(self, segment: Variable) -> Word:
        text = self._written(segment.start, segment.end)
        text = f"${{{segment.name}}}" if _BLANK.search(text) else text  # `${TP:?set TP}`
        return self.source.word(text, segment.start, segment.end, (segment.name,))

    def _written(self, start: int, end: int) -> str:
        return self.source.text[start:end].replace(IGNORED, "")


class _FieldBuilder:
    """The words that come out of the word written at `start:end` of the source, the last one still open."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source, self.start, self.end = source, start, end
        self.words: list[Word] = []
        self._begin()

    def _begin(self) -> None:
        self.parts: list[Word] = []
        self.exists = False
        self.written_here = False
        """Not only out of an array or of a variable with several words, which have the place of their definition."""

    def add(self, text: str, start: int, end: int, exists: bool, names: Sequence[str] = ()) -> None:
        """Text for `start:end` of the source. `exists`: it is a word even when it is empty."""
        self.exists |= exists or bool(text)
        self.written_here = True
        pieces = (Piece(0, len(text), *self.source.origin(start, end)),)
        self.parts.append(Word(text, unresolved=tuple(names), pieces=pieces))

    def substitute(self, value: Word, start: int, end: int, split: bool) -> None:
        """A variable's value in its place `start:end`; `split` at blanks, where it is not quoted."""
        spans = [match.span() for match in _FIELD.finditer(_masked(value))] if split else [(0, len(value.text))]
        if value.text and (not spans or spans[0][0] > 0):
            self.close()
        if len(spans) == 1:
            first, last = spans[0]
            self.add(value.text[first:last], start, end, not split, value.unresolved)
        else:
            starts = [piece.start for piece in value.pieces]
            for number, (first, last) in enumerate(spans):
                pieces = _cut(value.pieces, starts, first, last)
                names = tuple(name for name in value.unresolved if name in value.text[first:last])
                self._append(Word(value.text[first:last], unresolved=names, pieces=pieces), number > 0, start, end)
        if spans and spans[-1][1] < len(value.text):
            self.close()

    def append_all(self, words: Sequence[Word], start: int, end: int) -> None:
        """The elements of an array: the first joins what stands before it, the last what comes behind."""
        for number, word in enumerate(words):
            self._append(word, number > 0, start, end)

    def _append(self, word: Word, closes: bool, start: int, end: int) -> None:
        if closes:
            self.close()
        self.exists = True
        if not word.pieces:
            word = replace(word, pieces=(Piece(0, len(word.text), *self.source.origin(start, end)),))
        self.parts.append(word)

    def close(self) -> None:
        if self.exists and len(self.parts) == 1 and not self.written_here and self.parts[0].line:
            self.words += self.parts
        elif self.exists:
            pieces = [piece for part in self.parts for piece in part.pieces if piece.end > piece.start]
            start, end = self.source.origin(self.start, self.end)
            if pieces and not self.written_here:
                start, end = pieces[0].source_start, pieces[-1].source_end
            self.words.append(concatenated(self.parts, self.source.whole.word("", start, end)))
        self._begin()

    def finish(self) -> list[Word]:
        self.close()
        return self.words


def _masked(value: Word) -> str:
    """The text without the blanks of what is unresolved: `$(hostname -I)` is one word."""
    text = value.text
    for name in value.unresolved:
        if _BLANK.search(name):
            text = text.replace(name, _BLANK.sub("_", name))
    return text


def _cut(pieces: Sequence[Piece], starts: Sequence[int], first: int, last: int) -> tuple[Piece, ...]:
    """The pieces of `text[first:last]`, counted from `first`."""
    cut: list[Piece] = []
    for at in range(max(0, bisect_right(starts, first) - 1), bisect_right(starts, last - 1)):
        piece = pieces[at]
        start, end = max(piece.start, first), min(piece.end, last)
        if end > start:
            source_start = piece.source_start + (start - piece.start if piece.exact else 0)
            source_end = source_start + end - start if piece.exact else piece.source_end
            cut.append(Piece(start - first, end - first, source_start, source_end))
    return tuple(cut)


def concatenated(words: Sequence[Word], at: Word) -> Word:
    """One word of several, at the place of `at`."""
    pieces: list[Piece] = []
    length = 0
    for word in words:
        pieces += [Piece(p.start + length, p.end + length, *p[2:]) for p in word.pieces if p.end > p.start]
        length += len(word.text)
    names = tuple(dict.fromkeys(name for word in words for name in word.unresolved))[:NAMES]
    return replace(at, text="".join(word.text for word in words), unresolved=names, pieces=tuple(pieces))


def join_words(words: Sequence[Word]) -> Word:
    """One word of several, a blank between them, as `ssh` and `eval` join their arguments."""
    if not words:
        return Word("")
    parts: list[Word] = []
    behind = 0
    for word in words:
        if parts:
            parts.append(Word(" ", pieces=(Piece(0, 1, behind, behind),)))
        parts.append(word)
        behind = word.pieces[-1].source_end if word.pieces else behind
    return concatenated(parts, replace(words[0], end_line=words[-1].end_line, end_column=words[-1].end_column))


def _text(value: Value) -> str:
    return value.text if isinstance(value, Word) else " ".join(word.text for word in value)


def _known(value: Value) -> bool:
    return not any(word.unresolved for word in ((value,) if isinstance(value, Word) else value))
