"""Variables whose value is none that their reader takes: data/variable_values.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import known_environment, versions
from moonpad.catalog.variable_values import VariableValue, variable_values
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, shortened
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.versions import since

_LONGEST: Final = 200
_ASK: Final = "--engine-version says which is meant"
_OPEN: Final = re.compile(r"[$`<>{}*]|\.\.\.|…|^(?:0/1|1/0|true/false|false/true|on/off|off/on)$", re.IGNORECASE)
"""Values that somebody has still to choose."""


def variable_value(case: Case) -> Iterator[Remark]:
    """`VLLM_USE_DEEP_GEMM=true`, which the engine reads as a number."""
    known = variable_values()
    for number, command in enumerate(case.commands):
        for name, word in command.env.items():
            if name not in known or word.unresolved:
                continue
            value = word.text.removeprefix(f"{name}=").strip("'\"")
            if not value or len(value) > _LONGEST or unresolved(value) or _OPEN.search(value):
                continue
            row = next((row for row in known[name] if _holds(row, name, case) and _is_wrong(row, value)), None)
            if row is not None:
                message = _message(row, name, value, case)
                finding = Finding(Severity.WARNING, Code.INVALID_VALUE, name, message, row.remedy)
                yield Remark(finding, command=number, variable=name)


def _message(row: VariableValue, name: str, value: str, case: Case) -> str:
    """What happens; from which release on, where an older one may be meant."""
    written = shortened(value, 40)
    message = row.message.replace("{value}", written)
    if case.version or not row.since:
        return message
    if row.formerly and re.fullmatch(row.formerly, value):
        return f"{written} is none of its values from {row.since} on; {row.formerly_in} takes it: {_ASK}"
    program = case.engine.program
    earlier = [each for each in versions(program) if not since(each, row.since)]
    reading = any(name in known_environment(program, each) for each in earlier)
    return f"{message}; seen from {row.since} on: {_ASK}" if reading else message


def _is_wrong(row: VariableValue, value: str) -> bool:
    if row.refuses and re.fullmatch(row.refuses, value):
        return True
    return bool(row.takes) and re.fullmatch(row.takes, value) is None


def _holds(row: VariableValue, name: str, case: Case) -> bool:
    """Whether the engine's release reads the variable, of an engine's own one."""
    if not row.engines:
        return True
    version = case.version if case.engine.name == case.base else case.base_version
    if case.engine.name not in row.engines and case.base not in row.engines:
        return False
    if row.since and version and not since(version, row.since):
        return False
    program = case.engine.program
    return not version or name in known_environment(program, version)
