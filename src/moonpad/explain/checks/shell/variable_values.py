"""Variables whose value is none that their reader takes: data/variable_values.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import known_environment
from moonpad.catalog.variable_values import VariableValue, variable_values
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, shortened
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.versions import since

_LONGEST: Final = 200
_OPEN: Final = re.compile(r"[$`<>{}*]|\.\.\.|…")


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
                message = row.message.replace("{value}", shortened(value, 40))
                finding = Finding(Severity.WARNING, Code.INVALID_VALUE, name, message, row.remedy)
                yield Remark(finding, command=number, variable=name)


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
