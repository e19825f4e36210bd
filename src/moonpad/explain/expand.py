"""Variables and what words become of them, without running anything.

What the script itself does not say stays as it is written, and the word names it as unresolved. The environment of
whoever runs the script is unknown: `${TP:-8}` is 8 unless the script sets TP.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from moonpad.explain.arithmetic import evaluate
from moonpad.explain.commands import Piece, Word
from moonpad.explain.limits import NAMES, Budget
from moonpad.explain.source import IGNORED, Source, place_word
from moonpad.explain.tokens import Array, Here, Opaque, RawWord, Segment, Text, Variable

Value = Word | tuple[Word, ...]
"""A scalar or an array."""

_BLANK: Final = re.compile(r"[ \t\n]")
_FIELD: Final = re.compile(r"[^ \t\n]+")


class Variables:
    """Names and values, in layers: a branch that may not run writes into a layer of its own."""

    def __init__(self, values: Iterable[tuple[str, Value]] = ()) -> None:
        self._layers: list[dict[str, Value]] = [dict(values)]
        self.arguments: tuple[Word, ...] | None = ()
        """`$1`, `$2` …; None where nobody knows them."""

    def get(self, name: str) -> Value | None:
        return next((layer[name] for layer in reversed(self._layers) if name in layer), None)

    def set(self, name: str, value: Value) -> None:
        self._layers[-1][name] = value

    def push(self) -> None:
        self._layers.append({})

    def pop(self) -> dict[str, Value]:
        return self._layers.pop()

    def items(self) -> dict[str, Value]:
        return {name: value for layer in self._layers for name, value in layer.items()}

    def join(self, branches: Sequence[dict[str, Value]], exhaustive: bool) -> None:
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
            self.set(name, _merged(name, before, values))


def _extends(value: Value, before: Value) -> bool:
    if isinstance(value, tuple) and isinstance(before, tuple):
        return [word.text for word in value[: len(before)]] == [word.text for word in before]
    return (
        isinstance(value, Word)
        and isinstance(before, Word)
        and value.text.startswith(before.text)
        and before.text != ""
    )


def _merged(name: str, before: Value | None, values: Sequence[Value]) -> Value:
    """The one value of all branches; where they only add different things to what there was, that and a marker."""
    if all(_text(value) == _text(values[0]) for value in values):
        return values[0]
    marker = unresolved(name, values[0])
    if isinstance(before, tuple) and all(_extends(value, before) for value in values):
        return (*before, marker)
    return marker


def unresolved(name: str, at: Value) -> Word:
    """The value of a variable that nobody knows; `at` is where it was set."""
    word = at if isinstance(at, Word) else (at[0] if at else Word(""))
    return Word(f"${name}", word.line, word.column, word.end_line, word.end_column, (name,))


class Expander:
    """Turns raw words of one source into words. Substituted text is paid for from the budget."""

    def __init__(self, source: Source, variables: Variables, budget: Budget) -> None:
        self.source, self.variables, self.budget = source, variables, budget

    def fields(self, raw: RawWord) -> list[Word]:
        """What a shell makes of a word of a command: none, one or several."""
        fields = _Fields(self.source, *self.source.origin(raw.start, raw.end))
        for segment in raw.segments:
            self._expand(segment, fields, split=True)
        return fields.finish()

    def scalar(self, segments: Sequence[Segment], start: int, end: int) -> Word:
        """The same without splitting, as for assignments; `start:end` is what the word stands for."""
        fields = _Fields(self.source, *self.source.origin(start, end))
        fields.exists = True
        for segment in segments:
            self._expand(segment, fields, split=False)
        return fields.finish()[0]

    def array(self, array: Array) -> tuple[Word, ...]:
        return tuple(word for raw in array.words for word in self.fields(raw))

    def here(self, here: Here) -> Word:
        """The body of a heredoc."""
        word = self.scalar(here.segments, here.start, here.end)
        if not here.strip_tabs:
            return word
        text = "\n".join(line.lstrip("\t") for line in word.text.split("\n"))
        return Word(text, word.line, word.column, word.end_line, word.end_column, word.unresolved)

    def lookup(self, name: str) -> str | None:
        """The text of a variable that is known, for arithmetic."""
        value = self.variables.get(name)
        return value.text if isinstance(value, Word) and value.known else None

    # --- segments ---

    def _expand(self, segment: Segment, fields: _Fields, *, split: bool) -> None:
        match segment:
            case Text(text, start, end, quoted):
                fields.add(text, *self.source.origin(start, end), quoted)
            case Opaque():
                self._opaque(segment, fields)
            case Variable():
                self._variable(segment, fields, split)
            case Array(_, start, end):
                fields.add(self._written(start, end), *self.source.origin(start, end), True)

    def _opaque(self, segment: Opaque, fields: _Fields) -> None:
        place = self.source.origin(segment.start, segment.end)
        if segment.arithmetic is not None:
            value = evaluate(segment.arithmetic, self.lookup)
            if value is not None:
                fields.add(str(value), *place, True)
                return
        fields.add(segment.name, *place, True, (segment.name,))

    def _variable(self, segment: Variable, fields: _Fields, split: bool) -> None:
        value = self._value(segment)
        if segment.operator:
            fields.exists |= segment.quoted
            value = self._operated(segment, value, fields, split and not segment.quoted)
        if value is None:
            return
        place = self.source.origin(segment.start, segment.end)
        if isinstance(value, tuple) and (not split or (segment.quoted and "*" in (segment.subscript, segment.name))):
            value = join_words(value)
        if isinstance(value, tuple):
            self.budget.spend(len(value), sum(len(word.text) for word in value))
            fields.append_all(value, *place)
        else:
            split = split and not segment.quoted
            self.budget.spend(len(value.text.split()) if split else 1, len(value.text))
            fields.substitute(value, *place, split)

    def _value(self, segment: Variable) -> Value | None:
        """What it stands for without its operator. None where the operator decides, or where nothing stands for it."""
        name, index = segment.name, segment.subscript
        if name in ("@", "*"):
            arguments = self.variables.arguments
            return self._marker(segment) if arguments is None else arguments
        if name.isdigit() and int(name[:9]) > 0 and self.variables.arguments is not None:
            arguments = self.variables.arguments
            value: Value | None = arguments[int(name) - 1] if len(name) < 9 and int(name) <= len(arguments) else None
        else:
            value = self.variables.get(name)
        if isinstance(value, tuple):
            if index in ("@", "*"):
                return value
            if index.isdigit() or not index:
                at = int(index[:9] or 0)
                value = value[at] if at < len(value) else None
            else:
                value = None
        elif index not in ("", "0", "@", "*"):
            value = None
        if value is None and not segment.operator:
            return self._marker(segment)
        return value

    def _operated(self, segment: Variable, value: Value | None, fields: _Fields, split: bool) -> Value | None:
        text = None if value is None else _text(value)
        operator = segment.operator
        is_set = text is not None and (text != "" or ":" not in operator)
        if operator in (":+", "+"):
            if is_set:
                self._operand(segment, fields, split)
            return None
        if is_set:
            return value
        if operator in (":?", "?"):
            return self._marker(segment)
        if operator in (":=", "="):
            self.variables.set(segment.name, self.scalar(segment.operand, segment.start, segment.end))
        self._operand(segment, fields, split)
        return None

    def _operand(self, segment: Variable, fields: _Fields, split: bool) -> None:
        """The default, in the place of the variable: split like it, where it is not quoted."""
        if not split:
            for inner in segment.operand:
                self._expand(inner, fields, split=False)
            return
        value = self.scalar(segment.operand, segment.start, segment.end)
        if all(isinstance(inner, Text) and inner.quoted for inner in segment.operand):
            fields.substitute(value, *self.source.origin(segment.start, segment.end), False)
        else:
            fields.substitute(value, *self.source.origin(segment.start, segment.end), True)

    def _marker(self, segment: Variable) -> Word:
        text = self._written(segment.start, segment.end)
        text = f"${{{segment.name}}}" if _BLANK.search(text) else text  # `${TP:?set TP}`
        start, end = self.source.origin(segment.start, segment.end)
        return place_word(self.source.whole, text, start, end, (), (segment.name,))

    def _written(self, start: int, end: int) -> str:
        return self.source.text[start:end].replace(IGNORED, "")


class _Fields:
    """The words that come out of one raw word, the last one still open."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source, self.start, self.end = source, start, end
        self.done: list[Word] = []
        self._clear()

    def _clear(self) -> None:
        self.texts: list[str] = []
        self.pieces: list[Piece] = []
        self.names: list[str] = []
        self.length = 0
        self.exists = False
        self.defined_elsewhere = True
        self.element: Word | None = None
        """The element of an array that is all there is so far."""

    def add(self, text: str, start: int, end: int, exists: bool, names: Sequence[str] = ()) -> None:
        """Text from `start:end` of the whole. `exists`: it is a word even when it is empty."""
        self.exists |= exists or bool(text)
        self.defined_elsewhere = False
        self._append(text, (Piece(0, len(text), start, end),), names)

    def substitute(self, value: Word, start: int, end: int, split: bool) -> None:
        """A variable's value in its place `start:end`; `split` at blanks, where it is not quoted."""
        parts = [match.span() for match in _FIELD.finditer(_masked(value))] if split else [(0, len(value.text))]
        if len(parts) < 2 and parts != []:
            first, last = parts[0]
            if split and first > 0:
                self.close()
            if not split or last > first:
                self.add(value.text[first:last], start, end, not split, value.unresolved)
            if split and last < len(value.text):
                self.close()
            return
        if not parts and value.text:
            self.close()
        starts = [piece.start for piece in value.pieces]
        for number, (first, last) in enumerate(parts):
            if number or first > 0:
                self.close()
            pieces = _cut(value.pieces, starts, first, last) or (Piece(0, last - first, start, end),)
            names = tuple(name for name in value.unresolved if name in value.text[first:last])
            self.exists = True
            self._append(value.text[first:last], pieces, names)
        if parts and parts[-1][1] < len(value.text):
            self.close()

    def append_all(self, words: Sequence[Word], start: int, end: int) -> None:
        """The elements of an array: the first joins what stands before it, the last what comes behind."""
        for number, word in enumerate(words):
            if number:
                self.close()
            alone, self.exists = not self.exists, True
            self._append(word.text, word.pieces or (Piece(0, len(word.text), start, end),), word.unresolved)
            self.element = word if alone else None

    def _append(self, text: str, pieces: Sequence[Piece], names: Sequence[str]) -> None:
        self.element = None
        self.texts.append(text)
        self.pieces += [Piece(p.start + self.length, p.end + self.length, *p[2:]) for p in pieces if p.end > p.start]
        self.names += names[:NAMES]
        self.length += len(text)

    def close(self) -> None:
        if self.element is not None:
            self.done.append(self.element)
        elif self.exists:
            start, end = self.start, self.end
            if self.defined_elsewhere and self.pieces:
                start, end = self.pieces[0].source_start, self.pieces[-1].source_end
            text = "".join(self.texts)
            self.done.append(place_word(self.source.whole, text, start, end, self.pieces, self.names))
        self._clear()

    def finish(self) -> list[Word]:
        self.close()
        return self.done


def _masked(value: Word) -> str:
    """The text without the blanks of what is unresolved: `$(hostname -I)` is one word."""
    text = value.text
    for name in value.unresolved:
        if _BLANK.search(name):
            text = text.replace(name, _BLANK.sub("_", name))
    return text


def _cut(pieces: Sequence[Piece], starts: Sequence[int], first: int, last: int) -> tuple[Piece, ...]:
    """The pieces of `text[first:last]`, counted from `first`."""
    found = []
    for at in range(max(0, bisect_right(starts, first) - 1), len(pieces)):
        piece = pieces[at]
        if piece.start >= last:
            break
        start, end = max(piece.start, first), min(piece.end, last)
        if end <= start:
            continue
        exact = piece.end - piece.start == piece.source_end - piece.source_start
        source_start = piece.source_start + (start - piece.start if exact else 0)
        source_end = source_start + end - start if exact else piece.source_end
        found.append(Piece(start - first, end - first, source_start, source_end))
    return tuple(found)


def join_words(words: Sequence[Word]) -> Word:
    """One word of several, a blank between them, as `ssh` and `eval` join their arguments."""
    if not words:
        return Word("")
    texts: list[str] = []
    pieces: list[Piece] = []
    length = 0
    for word in words:
        if texts:
            at = pieces[-1].source_end if pieces else 0
            pieces.append(Piece(length, length + 1, at, at))
            texts.append(" ")
            length += 1
        pieces += [Piece(p.start + length, p.end + length, *p[2:]) for p in word.pieces]
        texts.append(word.text)
        length += len(word.text)
    names = tuple(dict.fromkeys(name for word in words for name in word.unresolved))[:NAMES]
    first, last = words[0], words[-1]
    return Word("".join(texts), first.line, first.column, last.end_line, last.end_column, names, tuple(pieces))


def _text(value: Value) -> str:
    return value.text if isinstance(value, Word) else " ".join(word.text for word in value)


def _known(value: Value) -> bool:
    return all(word.known for word in ((value,) if isinstance(value, Word) else value))
