"""`python -m` with a module that is one letter away from what is meant, or with a package that does not start so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import STARTED_MODULES
from moonpad.engines.start_names import PACKAGES_ALONE
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command, Script
from moonpad.explain.json_repair import was_printed
from moonpad.explain.mended_lines import program_words
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.explain.spelling import one_apart
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_STARTED: Final = re.compile(r"\bpython[\d.]*[ ]+-m[ ]+(?P<module>[a-z_]+(?:\.[a-z_]+)+)(?=[ \\]|$)")


def misspelt_module(case: Case) -> Iterator[Remark]:
    """`python -m sglang.launch_sever`."""
    if is_first(case.commands, case.script):
        yield from misspelt_modules(case.script)


def misspelt_modules(script: Script) -> Iterator[Remark]:
    """The first of a text."""
    for number, text in numbered(script, 1, len(script.lines)) if any("-m" in line for line in script.lines) else ():
        match = _STARTED.search(text) if " -m " in text else None
        if match is None or match["module"] in STARTED_MODULES or text.lstrip().startswith("#"):
            continue
        meant = next((module for module in STARTED_MODULES if one_apart(match["module"], module)), "")
        if meant:
            message = f"{script.where(number)}: there is no module {match['module']} to start"
            remark = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, match["module"], message, f"start python -m {meant}"
            )
            yield Remark(remark.finding, command=None)
            return


def package_alone(case: Case) -> Iterator[Remark]:
    """`python3 -m vllm serve MODEL`: the package is none that Python runs."""
    for number, command in enumerate(case.commands):
        words = program_words(command)
        package = words[2] if len(words) > 2 and words[1] == "-m" else ""
        if package in PACKAGES_ALONE and not was_printed(command):
            program, module = PACKAGES_ALONE[package]
            started = (*words[:2], *module.split()) if _is_chosen(words[0], command) else tuple(program.split())
            message = f"the package {package} has no __main__: Python ends at once (cannot be directly executed)"
            where, remedy = f"{words[0]} -m {package}", f"start {' '.join(started)}"
            remark = make_remark(Severity.ERROR, Code.REMOVED_FLAG, where, message, remedy)
            place = next((word for word in command.prefix if word.text == package), None)
            yield replace(remark, command=number, at=None, word=place, program=started)


def _is_chosen(python: str, command: Command) -> bool:
    """Whether it is the Python of an environment, or one that a container is told to run."""
    return "/" in python or "$" in python or bool(command.wrappers)
