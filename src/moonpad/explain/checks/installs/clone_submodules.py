"""A clone without its submodules, from which a part is built that takes sources of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.submodules import WithSubmodules, with_submodules
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity

_STEP: Final = re.compile(r"&&|\|\||;|\n")
_CLONE: Final = re.compile(r"\bgit[ ]+clone\b.*[/:](?P<address>[\w.-]+/[\w.-]+?)(?:\.git)?/?[\"']?(?:[ ]|$)")
_FETCHED: Final = re.compile(r"--recurs(?:e|ive)|submodule")
"""Anywhere in a text: which of its clones that is for is not asked."""
_FOLDER: Final = re.compile(r"^[ \t]*(?:\$[ ])?cd[ ]+(?P<folder>\S+)")
_BUILD: Final = re.compile(
    r"\bpip3?[ ]+install\b(?:[ ]+-{1,2}[a-z][\w-]*)*[ ]+[\"']?\.(?:/|\[|[ \"']|$)"
    r"|\b(?:setup\.py[ ]+(?:install|develop|build)|cmake[ ])|(?:^|[ /])(?:install|develop)\.sh\b"
)


def clone_without_submodules(case: Case) -> Iterator[Remark]:
    """`git clone https://github.com/kvcache-ai/ktransformers`, `cd …/kt-kernel` and `pip install .`."""
    script = case.script
    if not is_first(case.commands, script) or not any("git clone" in line for line in script.lines):
        return
    if any(_FETCHED.search(line) for line in script.lines):
        return
    cloned: WithSubmodules | None = None
    line, folder = 0, ""
    for number, text in whole_lines(script):
        for step in _STEP.split(text):
            if clone := _CLONE.search(step):
                cloned, line = with_submodules().get(clone["address"].casefold()), number
            elif entered := _FOLDER.match(step):
                folder = entered["folder"]
            elif cloned is not None and _BUILD.search(step) and _needs_them(cloned, folder, step, script):
                yield _said(cloned, script.where(line), script.where(number))
                return


def _needs_them(cloned: WithSubmodules, folder: str, step: str, script: Script) -> bool:
    if cloned.fetched_by and re.search(cloned.fetched_by, f"{folder}/{step.strip().removeprefix('./')}"):
        return False
    return not cloned.where or any(re.search(cloned.where, text[:1000]) for text in script.lines)


def _said(cloned: WithSubmodules, at: str, built: str) -> Remark:
    message = (
        f"{at}: a plain clone of {cloned.address} has no submodules: {' and '.join(cloned.holds)} stay empty, and "
        f"the build ({built}) does not find their sources"
    )
    remedy = "write git clone --recursive, or git submodule update --init --recursive in the clone before the build"
    remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, "git clone", message, remedy)
    return Remark(remark.finding, command=None)
