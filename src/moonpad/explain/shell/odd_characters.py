"""Dashes and quotes in the words of commands that no shell reads as such."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.commands import Command, Problem

_DASHES: Final = ("–", "—", "−", "‐", "‑")
_QUOTES: Final = frozenset("“”„‘’«»")
_FIXABLE: Final = 50


def odd_characters(commands: Sequence[Command]) -> Iterator[Problem]:
    """Dashes and quotes that a text processor has made of the typed ones."""
    for word in (word for command in commands if command.program != "other" for word in command.words):
        end = word.end_column if word.end_line == word.line else word.column + 1
        if word.text.startswith(_DASHES):
            message = f"this begins with {word.text[0]}, not with a hyphen, so it is not read as a flag"
            remedy = f"--{word.text.lstrip(''.join(_DASHES) + '-')}"[:_FIXABLE]
            yield Problem("dash", word.line, word.column, end, message, remedy)
        elif _QUOTES & set(word.text[:1] + word.text[-1:]):
            message = "the shell does not read these characters as quotes"
            yield Problem("quotes", word.line, word.column, end, message, "type ' or \"")
