"""Texts that a Python program makes of others: filled templates, other spellings, words for a shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Final

from moonpad.explain.commands import Piece, Word
from moonpad.values.records import replace

_PERCENT: Final = re.compile(r"%(?:\((?P<name>\w{1,60})\))?[-+ #0]{0,3}\d{0,3}(?:\.\d{1,3})?[sdifgrx]|%%")
_MOST: Final = 200
"""Fields of a template."""
_SAFE: Final = re.compile(r"[\w@%+=:,./-]*")

Fill = Callable[[str], Word]
"""The word for the field of a template: its name, or its number as `#0`."""


def filled_by_format(template: Word, fill: Fill) -> list[Word]:
    """The parts of `"… {model} {0} {}".format(…)`; [] for what is no template."""
    parts: list[Word] = []
    cursor = number = 0
    try:
        fields = list(Formatter().parse(template.text))[:_MOST]
    except ValueError:
        return []
    for literal, field, _, _ in fields:
        parts.append(_part(template, literal, cursor))
        cursor = max(cursor, template.text.find(literal, cursor) + len(literal))
        if field is None:
            continue
        name = field or str(number)
        number += not field
        word = fill(f"#{name}" if name.isdecimal() else name)
        parts.append(_whole(word, template))
    return parts if any(field is not None for _, field, _, _ in fields) else []


def filled_by_percent(template: Word, fill: Fill) -> list[Word]:
    """The parts of `"… %s" % …`; [] for what is no template."""
    parts: list[Word] = []
    cursor = number = 0
    for match in list(_PERCENT.finditer(template.text))[:_MOST]:
        parts.append(_part(template, template.text[cursor : match.start()], cursor))
        cursor = match.end()
        if match[0] == "%%":
            parts.append(_part(template, "%", match.start()))
            continue
        parts.append(_whole(fill(match["name"] or f"#{number}"), template))
        number += not match["name"]
    return [*parts, _part(template, template.text[cursor:], cursor)] if number or parts else []


def replaced(template: Word, old: str, new: Word) -> list[Word]:
    """The parts of `text.replace(old, new)`."""
    parts: list[Word] = []
    cursor = 0
    for literal in template.text.split(old, _MOST):
        parts += (_part(template, literal, cursor), _whole(new, template))
        cursor += len(literal) + len(old)
    return parts[:-1]


def _part(template: Word, text: str, at: int) -> Word:
    """A part of a template that begins near that offset of its text, at its place."""
    at = max(template.text.find(text, at), 0)
    inside = next((piece for piece in template.pieces if piece.start <= at and at + len(text) <= piece.end), None)
    if inside is None or not inside.exact:
        return _whole(Word(text), template)
    begin = inside.source_start + at - inside.start
    return Word(text, pieces=(Piece(0, len(text), begin, begin + len(text)),))


def _whole(word: Word, template: Word) -> Word:
    """A word at the place of the whole template."""
    if not template.pieces:
        return replace(word, pieces=())
    begin, end = template.pieces[0].source_start, template.pieces[-1].source_end
    return replace(word, pieces=(Piece(0, len(word.text), begin, end),))


def quoted(word: Word, *, only_json: bool) -> Word:
    """As `shlex.quote` writes it. `only_json`: only what nobody writes without quotes."""
    text = word.text
    json = text[:1] in ("{", "[") and text[-1:] in ("}", "]")
    if _SAFE.fullmatch(text.replace("${", "").replace("}", "") if "${" in text else text) or (only_json and not json):
        return word
    if "'" not in text and "${" not in text:
        return _whole(replace(word, text=f"'{text}'"), word)
    inner = re.sub(r'[\\"`]|\$(?!\{)', lambda mark: f"\\{mark[0]}", text)
    return _whole(replace(word, text=f'"{inner}"'), word)


def respelled(text: str, method: str) -> str | None:
    """What a method without arguments makes of a text."""
    ways: Mapping[str, Callable[[str], str]] = {"lower": str.lower, "upper": str.upper, "title": str.title}
    return ways[method](text) if method in ways else None


def kind_is(value: object, names: Sequence[str]) -> bool | None:
    """What `isinstance(value, names)` says; None for other classes."""
    kinds = {"bool": bool, "str": str, "int": int, "float": float}
    if not names or any(name not in (*kinds, "list", "tuple", "dict") for name in names):
        return None
    return any(isinstance(value, kinds[name]) for name in names if name in kinds)
