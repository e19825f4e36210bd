"""A fork of an engine that a text clones and installs: whatever an image of the text holds, this is what runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from moonpad.engines.forks import OWNERS

_CLONE: Final = re.compile(
    r"\bgit[ ](?:-c[ ]\S{1,80}[ ])?clone\b[^\n;&|#]{0,200}?[/:](?P<owner>[\w.-]{1,60})/(?P<name>[\w.-]{1,60}?)"
    r"(?:\.git)?(?=[\s\"';&|)]|$)"
)
_DIRECT: Final = re.compile(
    r"\binstall\b[^\n;&|#]{0,200}\bgit\+(?:https|ssh)://[^\s/]{1,60}/(?P<owner>[\w.-]{1,60})/(?P<name>[\w.-]{1,60}?)"
    r"(?:\.git)?(?=[\s\"'@#;&|)]|$)"
)
_INSTALLED: Final = re.compile(
    r"\b(?:pip3?|uv)[ ](?:[\w-]+[ ]){0,3}?install[ ][^\n;&|#]{0,120}?"
    r"(?:-e[ ]|--editable[ =]|(?<=[ ])\.(?:[\s\[\"']|/|$))|\bpython3?[ ]setup\.py[ ](?:install|develop)"
)
_MIRRORS: Final = frozenset({"mirrors", "mirror", "gh_mirrors", "github-mirrors"})
_NEAR: Final = 12
"""Lines below a clone in which it is installed."""
_LONGEST: Final = 2000


@lru_cache(maxsize=8)  # each engine command of a text asks
def built_fork(engine: str, lines: tuple[str, ...]) -> str:
    """`someone/vllm-ascend`, the only fork of this very engine that is built; "" for none, or several."""
    found = {fork for at in range(len(lines)) if "git" in lines[at] and (fork := _fork_at(engine, lines, at))}
    return found.pop() if len(found) == 1 else ""


def _fork_at(engine: str, lines: Sequence[str], at: int) -> str:
    text = lines[at][:_LONGEST]
    direct = _DIRECT.search(text)
    match = direct or _CLONE.search(text)
    if match is None or match["name"].casefold().replace("_", "-") != engine:
        return ""
    owner = match["owner"].casefold()
    if owner in OWNERS | _MIRRORS:
        return ""
    for below in () if direct else lines[at : at + _NEAR]:
        again = _CLONE.search(below[:_LONGEST])
        if again is not None and again["name"] != match["name"]:
            return ""
        if _INSTALLED.search(below[:_LONGEST]):
            return f"{match['owner']}/{match['name']}"
    return f"{match['owner']}/{match['name']}" if direct else ""
