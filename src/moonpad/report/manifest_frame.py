"""Corrected commands as they are used: the arguments of an image alone under the key of their manifest, a list that
takes the place of what stands there; a command that was typed with what was written behind it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.results import Judged, Line
from moonpad.report.changed_lines import sent_to
from moonpad.report.shell_line import INDENT, filled_lines, typed_lines

_KEY: Final = re.compile(r"[ \t]*(?:-[ \t]+)?(?P<key>\"?(?:command|args)\"?)[ \t]*:")
_OF_RECIPE: Final = re.compile(r"[ \t]*[\"']?(?P<key>[a-z][\w-]{1,60})[\"']?[ \t]*:(?:[ \t]|$)")
_FEWEST_KEYS: Final = 2
_NARROW: Final = 80
_FARTHEST: Final = 200
"""Lines between the key and the first of the arguments: comments, and those of a program that is left out."""


def corrected_rows(judged: Judged, script: Script, width: int, most: int) -> Iterator[str]:
    """Of the first corrected commands, in few rows: a command to type, or the list of a manifest's key."""
    for line, key, behind in [*_with_keys(judged, script)][:most]:
        yield from _list_rows(key, line.argv, width) if key else _sent(filled_lines(line, width), behind)


def corrected_texts(judged: Judged, script: Script) -> Iterator[Iterator[str]]:
    """The rows of each corrected command, with a row for each option."""
    for line, key, behind in _with_keys(judged, script):
        yield _list_rows(key, line.argv, _NARROW) if key else _sent(typed_lines(line), behind)


def as_keys(judged: Judged, script: Script, words: Sequence[str]) -> str:
    """`max-model-len: 9216, kv-cache-dtype: fp8` of options, where the text gives them as keys of a recipe; "" where it
    writes them as options."""
    written = [
        match["key"]
        for word in (judged.sources[0].argv if judged.sources else ())
        if word.text.startswith("--") and 0 < word.line <= len(script.lines)
        if (match := _OF_RECIPE.match(script.lines[word.line - 1])) is not None
        if match["key"].replace("_", "-") == word.text.partition("=")[0].removeprefix("--").replace("_", "-")
    ]
    if len(written) < _FEWEST_KEYS:
        return ""
    mark = "_" if any("_" in key for key in written) else "-"
    keys: list[str] = []
    for word in words:
        if word.startswith("--"):
            keys.append(f"{word.removeprefix('--').replace('-', mark)}: true")
        elif keys:
            keys[-1] = f"{keys[-1].removesuffix('true')}{word}"
    return ", ".join(keys)


def _with_keys(judged: Judged, script: Script) -> Iterator[tuple[Line, str, str]]:
    """With the key of each, and what the text writes behind it."""
    for line, source in zip(judged.corrected, judged.sources, strict=False):
        yield line, _key_of(line, source, judged.model_written, script), sent_to(source, script)


def _sent(rows: Iterator[str], behind: str) -> Iterator[str]:
    *first, last = rows
    yield from first
    yield f"{last} \\" if behind else last
    if behind:
        yield f"{INDENT}{behind}"


def _key_of(line: Line, source: Command, model: str, script: Script) -> str:
    """The key in the manifest under which the arguments stand; "" where the line begins with a program, or was typed
    into a shell."""
    container = source.container
    if container is None or container.words or line.env or not line.argv:
        return ""
    if not (line.argv[0].startswith("-") or line.argv[0] == model):
        return ""
    if any("$" in word and not any(name in word for name in line.unresolved) for word in line.argv):
        return ""  # a dollar that the manifest's reader must leave alone, which each writes in its own way
    first = min((word.line for word in source.argv if word.line), default=0)
    for number in range(first, max(first - _FARTHEST, 0), -1):
        if number <= len(script.lines) and (match := _KEY.match(script.lines[number - 1])) is not None:
            return match["key"]
    return ""


def _list_rows(key: str, words: Sequence[str], width: int) -> Iterator[str]:
    """Options with their values kept together."""
    pieces: list[list[str]] = []
    for word in words:
        if not pieces or word.startswith("-"):
            pieces.append([])
        pieces[-1].append(json.dumps(word, ensure_ascii=False))
    row = f"{key}: ["
    for at, piece in enumerate(pieces):
        text = ", ".join(piece) + ("]" if at == len(pieces) - 1 else ",")
        if at and len(row) + len(text) + 1 > width:
            yield row
            row = f"{INDENT}{text}"
        else:
            row = f"{row} {text}" if at else f"{row}{text}"
    yield row
