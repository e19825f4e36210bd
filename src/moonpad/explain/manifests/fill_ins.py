"""Templates of commands in YAML, filled from a mapping of the same file: `{port}` with `defaults: {port: 8000}`.

Source: https://docs.python.org/3/library/string.html#format-string-syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from yaml import Node

from moonpad.explain.commands import Word, concatenated, cut
from moonpad.explain.input_limits import Budget
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, scalar
from moonpad.values.records import replace

_TABLES: Final = (
    *("defaults", "default", "params", "parameters", "variables", "vars", "values", "template_vars", "env", "envs"),
)
"""Keys of mappings with the values, those that win first."""
_FIELD: Final = re.compile(
    r"(?:(?<![{$\w])|(?<=(?<![{$])\{\{))\{(?P<name>[A-Za-z_]\w{0,60})\}(?=(?:\}\})*+(?!\}))"
    r"|(?<![\\$])\$(?P<of_yaml>[A-Za-z_]\w{0,200})"
)
"""`{port}`; `{{ port }}` is `$port______` by the time the YAML is read. Beside a field, a doubled brace is one of the
text."""
_DOUBLED: Final = re.compile(r"\{\{|\}\}")


def fill_ins(fields: Fields, source: YamlSource) -> Mapping[str, Word]:
    """What the mapping has for the templates in it, {} where it has no table of values."""
    tables = [given for key in _TABLES if (given := source.fields(fields.get(key)))]
    if not tables:
        return {}
    return {name: source.word(node) for table in (fields, *reversed(tables)) for name, node in _plain(table)}


def _plain(table: Fields) -> Iterator[tuple[str, Node]]:
    return ((name, node) for name, node in table.items() if scalar(node))


def filled_in(word: Word, values: Mapping[str, Word], unknown: frozenset[str], budget: Budget) -> Word:
    """With the values in the place of their names. `unknown`: what stands for the templates of YAML. A doubled brace is
    a single one in a text with fields of Python."""
    if not values or not ("{" in word.text or word.unresolved):
        return word
    parts, at, by_format = list[Word](), 0, False
    for match in _FIELD.finditer(word.text):
        name = match["name"] or (match["of_yaml"].strip("_") if match["of_yaml"] in unknown else "")
        value = values.get(name)
        if value is None or match[0] in value.text:
            continue
        by_format |= match["name"] is not None
        reference = cut(word, *match.span())
        budget.spend(1, len(value.text))
        pieces = tuple(piece._replace(start=0, end=len(value.text)) for piece in reference.pieces[:1])
        parts += (cut(word, at, match.start()), replace(value, pieces=pieces))
        at = match.end()
    if not parts:
        return word
    whole = concatenated((*parts, cut(word, at, len(word.text))), word)
    whole = replace(whole, unresolved=tuple(name for name in whole.unresolved if f"${name}" in whole.text))
    return _single_braces(whole) if by_format else whole


def _single_braces(word: Word) -> Word:
    parts, at = list[Word](), 0
    for match in _DOUBLED.finditer(word.text):
        parts.append(cut(word, at, match.start() + 1))
        at = match.end()
    return concatenated((*parts, cut(word, at, len(word.text))), word)
