"""Lines of a pasted text that are sentences, lists of devices or errors: nobody meant them for a shell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Problem

_OF_SHELL: Final = frozenset({"syntax", "unclosed"})
_PROSE: Final = re.compile(
    r"[ \t]{0,8}(?:(?:[A-Z][A-Za-z0-9.'’-]{0,40}[,:]?|\d{1,4}(?:\.\d{1,4})?[xX×]?"
    r"|(?i:vllm|sglang|ktransformers|tensorrt-llm)(?=[ ]v?\d))(?:[ ][\w\"'(`*~/@.:,&+-]{1,80}){2}"
    r"|[A-Za-z]{2,20}:[ ][\w\"'(])"
)
"""Three words, of which the first is no command's: it begins with a capital or is a number, or names an engine before
its release; or a word with a colon."""
_COMMAND: Final = re.compile(r"\$[({\w]|&&|\|\||[ ]--?[a-zA-Z]")


def but_of_prose(problems: Sequence[Problem], lines: Sequence[str]) -> list[Problem]:
    """Those that are of commands: a text that names its shell has no prose."""
    if not problems or (lines and lines[0].startswith("#!")):
        return list(problems)
    return [one for one in problems if one.code not in _OF_SHELL or not _is_prose(one.line, lines)]


def _is_prose(number: int, lines: Sequence[str]) -> bool:
    if not 1 <= number <= len(lines) or (number > 1 and lines[number - 2].rstrip().endswith("\\")):
        return False
    line = lines[number - 1][:2_000]
    return _PROSE.match(line) is not None and _COMMAND.search(line) is None
