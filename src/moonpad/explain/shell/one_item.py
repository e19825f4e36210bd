"""An option and its value in one item of a list, `- --tensor-parallel-size 8`: one argument, which no program takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.shell.typo_repair import ONE_ITEM
from moonpad.values.records import replace

_ITEM: Final = re.compile(r"(--?[A-Za-z][\w-]*)[ \t]+([^\s'\"{\[-][^'\"{\[\n]*)")


def apart(word: Word, state: ScriptState, *, told: bool = True) -> Sequence[Word]:
    """The option and its value, as they are meant. `told`: nothing splits the item before the program gets it."""
    match = _ITEM.fullmatch(word.text)
    if match is None:
        return [word]
    flag, value = match.groups()
    if told and word.pieces:
        start, end = word.pieces[0].source_start, word.pieces[-1].source_end
        message = f"one item of the list is one argument: {flag} and its value reach the program as one word"
        remedy = f"write them as two items, or as {flag}={value}"
        if any(part.startswith("--") for part in value.split()):
            message = f"one item of the list is one argument: {flag} and all behind it reach the program as one word"
            remedy = "write each as an item of its own, or the whole list as one text"
        state.problems.add(ONE_ITEM, start, end, message, remedy)
    return [replace(word, text=text, pieces=()) for text in (flag, *value.split())]
