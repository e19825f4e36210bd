"""A start under a profiler that does not see the processes in which the engine works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_PROFILER: Final = "nsys"
_FOLLOWS: Final = "--trace-fork-before-exec"
_OFF: Final = ("false", "0", "no")


def profiled_forks(case: Case) -> Iterator[Remark]:
    """`nsys profile vllm serve …`: the kernels run in processes that are forked and never call exec."""
    if case.base not in (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION):
        return
    for number, command in enumerate(case.commands):
        for wrapper in command.wrappers:
            words = [word.text for word in wrapper.words]
            if wrapper.kind != _PROFILER or "profile" not in words[:3] or _is_followed(words):
                continue
            message = "nsys passes over a process between its fork and an exec, and the engine's workers are such "
            message += "processes: the profile holds no GPU kernel of theirs"
            remedy = f"write nsys profile {_FOLLOWS}=true"
            remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, "nsys profile", message, remedy)
            yield replace(remark, command=number)
            return


def _is_followed(words: list[str]) -> bool:
    for at, word in enumerate(words):
        name, sign, value = word.partition("=")
        if name == _FOLLOWS:
            given = value if sign else next(iter(words[at + 1 : at + 2]), "")
            return given.lower() not in _OFF
    return False
