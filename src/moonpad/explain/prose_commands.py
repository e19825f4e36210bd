"""Commands that a sentence only speaks of."""

from __future__ import annotations

from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.argv_reader import parse
from moonpad.engines.option_grammar import Grammar
from moonpad.explain.commands import Command

_DOTS: Final = ("...", "…", "-", "—", "`")
_CERTAIN: Final = 3
"""With so many options it is a command, if one word is none of theirs."""


def is_prose(command: Command) -> bool:
    """Whether a text that nothing is known to run speaks of a command: "vllm serve with more than one rank …"."""
    options = option_set(command.program)
    texts = [word.text for word in command.argv]
    if options is None or any(text in _DOTS for text in texts):
        return True
    given = parse(texts, Grammar(options)).occurrences
    taken = {at for option in given for at in range(option.index, option.index + option.length)}
    others = [at for at, word in enumerate(command.argv) if at not in taken and not word.unresolved and at]
    return len(others) > (len(given) >= _CERTAIN)
