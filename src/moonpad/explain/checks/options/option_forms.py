"""Forms of options that a parser of its own kind does not read: a sign between name and value, names of places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.former_forms import BUFFERS, OVERRIDES, WITHOUT_EQUALS
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_GLUED: Final = re.compile(r"(?P<name>--?[A-Za-z][\w-]*)=(?P<value>.*)", re.DOTALL)
_PLACE: Final = re.compile(r"(?P<kind>cpu|cuda|gpu|rocm|hip|vulkan|sycl)(?P<number>\d{0,2})", re.IGNORECASE)
_RIGHT: Final = {kind.casefold(): kind for kind in BUFFERS} | {"gpu": "CUDA", "hip": "ROCm"}


def equals_sign(case: Case) -> Iterator[Remark]:
    """`--port=8080`: the whole word is looked up, and is no option."""
    command = case.commands[0]
    if case.engine.program not in WITHOUT_EQUALS or command.program != case.engine.program or command.fork:
        return
    for place in case.first.parsed.occurrences:
        word = command.argv[place.index] if place.index < len(command.argv) else None
        glued = _GLUED.fullmatch(word.text) if word is not None else None
        if glued is None or place.flag is None or glued["name"] not in (place.written, *place.names):
            continue
        message = "this parser takes a value behind a blank alone, and looks the whole word up: invalid argument"
        remedy = f"write {glued['name']} {shortened(glued['value'], 60)}"
        edit = Edit(place.index, place.length, (glued["name"], glued["value"]))
        where = place.written
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy, at=place.index, edits=[edit])


def override_target(case: Case) -> Iterator[Remark]:
    """A place that no device is called by, or none at all."""
    flag = OVERRIDES.get(case.engine.program)
    for place in case.first.parsed.occurrences if flag else ():
        value = place.value
        if flag not in (place.flag, *place.names) or not isinstance(value, str) or unresolved(value):
            continue
        text = value.strip("'\"")
        if "=" not in text:
            message, remedy = f"{shortened(text, 60)} names no place: the start ends", "write pattern=CPU, or =CUDA0"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)
            continue
        for part in text.split(","):
            named = _PLACE.fullmatch(part.rpartition("=")[2])
            right = _RIGHT[named["kind"].casefold()] if named is not None else ""
            if named is None or named["kind"] == right:
                continue
            number = "" if right == "CPU" else named["number"] or "0"
            message = f"no device is called {named[0]}, and letters count: the start ends (unknown buffer type)"
            remedy = f"write ={right}{number}"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)
            break


FORM_CHECKS: Final = (equals_sign, override_target)
