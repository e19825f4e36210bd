"""What is compiled in a container, and lost with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_COMPILED: Final = re.compile(r"torch\.compile|\bcompil(?:es?|ing|ation)\b|kernel warm-?up|\bJIT\b|编译", re.IGNORECASE)
_EACH: Final = re.compile(
    r"\b(?:each|every) (?:time|start|restart|launch|boot)|\bat (?:each|every)\b|每次", re.IGNORECASE
)
_KEPT: Final = re.compile(
    r"CACHE_ROOT|\.cache/(?!huggingface)\w|XDG_CACHE_HOME|DG_JIT_CACHE_DIR|DG_CACHE_DIR"
    r"|:/root/?(?:\.cache/?)?(?=[\s\"':,]|$)"
)
_RUN: Final = "docker run"
_LONGEST: Final = 1000
_MOST: Final = 150


def lost_cache(case: Case) -> Iterator[Remark]:
    """`docker run` without a place for what is compiled, in a text that complains of each start."""
    container, lines = case.commands[0].container, case.script.lines
    if container is None or container.kind != _RUN or len(lines) > _MOST:
        return
    if case.base not in (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION):
        return
    case.script.budget.once("caches of containers", 3 * len(lines), "the text around its engine commands")
    said = [line for line in lines if _COMPILED.search(line[:_LONGEST]) and _EACH.search(line[:_LONGEST])]
    if not said or is_in_lines(_KEPT, lines, _LONGEST):
        return
    message = "what is compiled stays in the container, and goes with it: each new container compiles it again"
    remedy = "mount a folder of the machine at ~/.cache of the container's user, /root/.cache in most images"
    yield replace(make_remark(Severity.WARNING, Code.SUBOPTIMAL, "--volume", message, remedy), command=None)
