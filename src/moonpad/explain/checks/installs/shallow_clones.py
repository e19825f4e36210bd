"""A clone without history, of which a given commit is taken next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity

_STEP: Final = re.compile(r"&&|\|\||;|\n")
_SHALLOW: Final = re.compile(r"\bgit[ ]+clone\b(?=.*[ ]--depth[= ](?P<depth>[1-9])\b)")
_RENEWED: Final = re.compile(r"\bgit\b.*[ ](?:clone|fetch|pull|init|remote|submodule)\b|--unshallow")
_TAKEN: Final = re.compile(
    r"\bgit[ ]+(?:-C[ ]+\S+[ ]+)?(?:checkout|reset[ ]+--hard|switch[ ]+--detach)(?:[ ]+-{1,2}[a-z]+)*[ ]+"
    r"[\"']?(?P<commit>\$\{?\w+\}?|[0-9a-f]{7,40})[\"']?[ ]*$"
)
_COMMIT: Final = re.compile(r"(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")
_FAR: Final = 12


def commit_of_shallow(case: Case) -> Iterator[Remark]:
    """`git clone --depth 1 …` and `git checkout 4c842ad…`."""
    if is_first(case.commands, case.script):
        yield from commits_of_shallow(case.script)


def commits_of_shallow(script: Script) -> Iterator[Remark]:
    """The first of a text."""
    if not any("--depth" in line for line in script.lines):
        return
    cloned, depth = 0, ""
    for number, text in whole_lines(script):
        for step in _STEP.split(text):
            shallow = _SHALLOW.search(step)
            if shallow is not None:
                cloned, depth = number, shallow["depth"]
                continue
            if _RENEWED.search(step) or number > cloned + _FAR:
                cloned = 0
            taken = _TAKEN.search(step.rstrip()) if cloned and "git" in step else None
            if taken is None or not (commit := _commit(taken["commit"], script)):
                continue
            message = (
                f"{script.where(number)}: a clone of --depth {depth} has the newest commits alone, and {commit[:12]} "
            )
            message += "is found there as long as it is one of them (reference is not a tree)"
            remedy = (
                "clone the whole history, or fetch the commit by its name before the checkout: git fetch origin COMMIT"
            )
            remark = make_remark(Severity.WARNING, Code.CONFLICT, "--depth", message, remedy)
            yield Remark(remark.finding, command=None)
            return


def _commit(written: str, script: Script) -> str:
    """The commit itself, or what the text gives the variable; "" where that is a branch or a tag, or not known."""
    if not written.startswith("$"):
        return written if _COMMIT.fullmatch(written) else ""
    name = re.escape(written.strip("${}"))
    given = re.compile(rf"(?:^|[\s;]){name}[= ][\"']?(?:\$\{{{name}:-)?(?P<value>[\w./-]+)")
    values = {match["value"] for line in script.lines if (match := given.search(line[:500])) is not None}
    return next(iter(values)) if len(values) == 1 and all(map(_COMMIT.fullmatch, values)) else ""
