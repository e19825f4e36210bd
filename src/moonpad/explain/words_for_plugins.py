"""Values that are a word where the engine's own loader reads an object: a plugin of the command may read the word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from moonpad.engines.plugin_words import PLUGIN_CLASSES, PLUGIN_VARIABLES, WORDS_FOR_PLUGINS
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.spoken_capabilities import other_maker
from moonpad.explain.results import Remark
from moonpad.values.finding import Code

_MARKS: Final = frozenset('{}[]"=:')
"""What looks like an object, or was meant as one, is no word."""


def but_for_plugins(remarks: Iterable[Remark], command: Command, script: Script) -> Iterator[Remark]:
    """Without those on such a word, where the command names a plugin or the text is about devices of a maker that
    has one."""
    options = WORDS_FOR_PLUGINS.get(command.program, frozenset())
    for remark in remarks:
        refused = remark.finding.code is Code.INVALID_VALUE and remark.finding.where.replace("_", "-") in options
        if refused and _is_word(command, remark.at) and (_names_plugin(command) or other_maker(script)):
            continue
        yield remark


def _is_word(command: Command, at: int | None) -> bool:
    words = [word.text for word in command.argv[at : at + 2]] if at is not None else []
    value = words[0].partition("=")[2] if words and "=" in words[0] else words[-1] if len(words) > 1 else ""
    return bool(value) and not _MARKS & set(value)


def _names_plugin(command: Command) -> bool:
    if any(command.env[name].text.strip() for name in PLUGIN_VARIABLES & set(command.env)):
        return True
    return any(word.text.partition("=")[0].replace("_", "-") in PLUGIN_CLASSES for word in command.argv)
