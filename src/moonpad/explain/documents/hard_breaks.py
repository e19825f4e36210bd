"""Two blanks at the ends of lines are a line break of Markdown, which editors put into commands too: the shell that the
author used had none of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Problem

_CODE: Final = "space-after-backslash"
_BREAK: Final = re.compile(r"\S[ ]{2}$")
_BROKEN: Final = re.compile(r"\\[ \t]+$")
_PROSE: Final = re.compile(r"[A-Za-z`*\u4e00-\u9fff][^\\|]{12,}[\w.:;,!?)*`。：，；][ ]{2}$")
_RANKS: Final = re.compile(r"\bWorker_(?:[A-Z]{2}\d+_)*TP\d|\bTP\d{1,2}\]|\bVllmWorker rank=\d|\bRayWorkerWrapper\b")
"""Ranks of a command that was read beyond its first line."""
_LONGEST: Final = 2000


def without_hard_breaks(problems: Sequence[Problem], lines: Sequence[str]) -> list[Problem]:
    """The problems without such blanks behind backslashes, where sentences end with them too or ranks have logged."""
    blanks = [problem for problem in problems if problem.code == _CODE and 1 <= problem.line <= len(lines)]
    if not blanks:
        return list(problems)
    texts = [line[:_LONGEST] for line in lines]
    broken = [text for text in texts if _BROKEN.search(text)]
    if not all(re.search(r"\\[ ]{2}$", text) for text in broken):
        return list(problems)
    fences = False
    written = False
    for text in texts:
        fences ^= text.lstrip(" >").startswith(("```", "~~~"))
        written = written or (not fences and _PROSE.match(text) is not None and _BREAK.search(text) is not None)
    if not written and not any(_RANKS.search(text) for text in texts):
        return list(problems)
    return [problem for problem in problems if problem not in blanks]
