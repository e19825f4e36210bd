"""Words that a script adds to a variable under a condition: `if [ "$OFFLOAD" = 1 ]; then ARGS+=(--cpu-offload); fi`.

A command is judged without them, and says so: they stay in what is shown as the variable that holds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from moonpad.explain.commands import LeftOpen, Word
from moonpad.explain.shell.tokens import Array, LiteralText, Segment, Token, Variable
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_LONGEST: Final = 100
_MOST: Final = 20
"""Additions of one variable."""


class Additions(Struct, frozen=True):
    """Of one variable: the length of what is added to (words of an array, characters of a text), -1 where something
    else was added since, and the line and the words of each addition."""

    behind: int
    is_array: bool
    added: tuple[tuple[int, str], ...]


def noted(
    before: Additions | None, value: Word | tuple[Word, ...], longer: Sequence[Word | tuple[Word, ...]]
) -> Additions:
    """With what the `longer` values have behind `value`."""
    length = len(value.text) if isinstance(value, Word) else len(value)
    added = [*before.added] if before is not None else []
    for each in longer:
        words = (replace(each, text=each.text[length:]),) if isinstance(each, Word) else each[length:]
        text = " ".join(word.text for word in words).strip()
        if text and len(added) < _MOST:
            added.append((words[0].line, text[:_LONGEST]))
    behind = length if before is None or before.behind == length else -1
    return Additions(behind, isinstance(value, tuple), tuple(dict.fromkeys(added)))


def in_the_place(value: Word | tuple[Word, ...], switch: str) -> tuple[tuple[int, str, str], ...]:
    """Of the value in another branch: its line and its words, and what switches it."""
    words = (value,) if isinstance(value, Word) else value
    text = " ".join(word.text for word in words).strip()
    return ((words[0].line, text[:_LONGEST], switch),) if text and switch else ()


def adds_to(token: Token, name: str) -> bool:
    """Whether an assignment keeps what the variable holds: `ARGS+=(…)`, `ARGS=("${ARGS[@]}" …)`."""
    first = token.segments[0]
    return (isinstance(first, LiteralText) and first.text.startswith(f"{name}+=")) or name in _names(token.segments)


def open_places(
    tokens: Sequence[Token],
    fields: Sequence[Sequence[Word]],
    additions: Mapping[str, Additions],
    lengths: Mapping[str, int],
    instead: Mapping[str, tuple[tuple[int, str, str], ...]],
    source: Source,
) -> tuple[LeftOpen, ...]:
    """Behind which words of a command such a variable stands. `fields` are the words of each token, `lengths` those of
    the variables now."""
    if not additions and not instead and not any(map(_where_set, tokens)):
        return ()
    places: list[LeftOpen] = []
    count = 0
    for token, words in zip(tokens, fields, strict=True):
        count += len(words)
        if not words and (segment := _where_set(token)) is not None:
            written = source.text[segment.start : segment.end]
            added = written.partition("+")[2].removesuffix("}")[:_LONGEST]
            line = source.word("", segment.start, segment.end).line
            places.append(LeftOpen(count, segment.name, written, ((line, added),)))
        for name in dict.fromkeys(_names(token.segments)):
            if (each := additions.get(name)) is not None:
                known = each.behind if each.behind == lengths.get(name, -2) else -1
                bare = _alone(token) is not None
                places.append(LeftOpen(count, name, _written(name, known, each.is_array), each.added, bare=bare))
            if name in instead:
                places.append(LeftOpen(count, name, "", (), instead[name][:_MOST]))
    return tuple(places)


def _alone(token: Token) -> Variable | None:
    """The variable that a word consists of, without quotes."""
    (first, *rest) = token.segments or (None,)
    return first if isinstance(first, Variable) and not rest and not first.quoted else None


def _where_set(token: Token) -> Variable | None:
    """`${RATIO:+--ratio "$RATIO"}`: options where the variable has a value."""
    segment = _alone(token)
    if segment is None or not segment.operator.endswith("+") or not segment.operand:
        return None
    first = segment.operand[0]
    return segment if isinstance(first, LiteralText) and first.text.startswith("-") else None


def _written(name: str, behind: int, is_array: bool) -> str:
    """What a shell fills in with the additions alone; "" where these are not all that is behind."""
    if behind < 0:
        return ""
    if is_array:
        return f"${{{name}[@]:{behind}}}" if behind else f"${{{name}[@]}}"
    return f"${{{name}:{behind}}}"


def _names(segments: Sequence[Segment]) -> Iterator[str]:
    for segment in segments:
        if isinstance(segment, Variable):
            yield segment.name
            yield from _names(segment.operand)
        elif isinstance(segment, Array):
            for word in segment.words:
                yield from _names(word.segments)
