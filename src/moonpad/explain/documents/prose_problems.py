"""Problems of shell syntax in lines that are sentences, lists of devices or errors, not written for a shell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.engines import ENGINES
from moonpad.explain.commands import Problem

_OF_SHELL: Final = frozenset({"syntax", "unclosed"})
_PROSE: Final = re.compile(
    r"[ \t]{0,8}(?:(?:[A-Z][A-Za-z0-9.'’-]{0,40}[,:]?|\d{1,4}(?:\.\d{1,4})?[xX×]?"
    rf"|(?i:{'|'.join(sorted(ENGINES))})"
    r"(?=[ ]v?\d))(?:[ ][\w\"'(`*~/@.:,&+-]{1,80}){2}"
    r"|[A-Za-z]{2,20}:[ ][\w\"'(]"
    r"|(?:\d{1,4}[ ]?)?[\u3040-\u9fff\uac00-\ud7af])"
)
"""Three words, of which the first is not the name of a command: it begins with a capital, is a number, or names an
engine before its release; or a word with a colon; or a line that begins in Chinese, Japanese or Korean, after a number
or at once."""
_APOSTROPHE: Final = re.compile(r"[A-Za-z]'[a-z]{1,2}\b")
"""`models's`, `doesn't`: within a word of a sentence."""
_WORDS: Final = 4
_COMMAND: Final = re.compile(r"\$[({\w]|&&|\|\||[ ]--?[a-zA-Z]")


def without_prose(problems: Sequence[Problem], lines: Sequence[str]) -> list[Problem]:
    """The problems of commands; a script with a shebang line has no prose."""
    if not problems or (lines and lines[0].startswith("#!")):
        return list(problems)
    return [problem for problem in problems if problem.code not in _OF_SHELL or not _is_prose(problem, lines)]


def _is_prose(problem: Problem, lines: Sequence[str]) -> bool:
    number = problem.line
    if not 1 <= number <= len(lines) or (number > 1 and lines[number - 2].rstrip().endswith("\\")):
        return False
    line = lines[number - 1][:2_000]
    apostrophe = problem.code == "unclosed" and _APOSTROPHE.match(line, max(0, problem.column - 1)) is not None
    begins = _PROSE.match(line) is not None or (apostrophe and line.count(" ") >= _WORDS)
    return begins and _COMMAND.search(line) is None
