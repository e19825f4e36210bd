"""A program that is started by subcommands, with a model in the place of one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import BY_SUBCOMMANDS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_STARTED: Final = re.compile(
    rf"[ \t$]*(?:[A-Z][A-Z0-9_]{{0,60}}=[^\s\"']{{0,80}}[ \t]+)*(?P<program>{'|'.join(BY_SUBCOMMANDS)})"
    r"[ \t]+(?P<model>[A-Za-z0-9][\w.-]{1,60}/[\w.-]{2,100})[ \t]+(?:\\$|--?[a-z])"
)


def no_subcommand(case: Case) -> Iterator[Remark]:
    """`vllm Qwen/Qwen3-8B --port 8000`: the model is taken for a subcommand."""
    script = case.script
    if not is_first(case.commands, script):
        return
    before = ""
    for number, text in numbered(script, 1, len(script.lines)):
        match = _STARTED.match(text) if not before.rstrip().endswith("\\") else None
        before = text
        if match is None:
            continue
        name, model = match["program"], shortened(match["model"], 60)
        message = f"{script.where(number)}: {name} takes {model} for a subcommand, and ends (invalid choice)"
        remark = make_remark(
            Severity.WARNING, Code.MISSING_FLAG, name, message, f"write {BY_SUBCOMMANDS[name]} {model}"
        )
        yield Remark(remark.finding, command=None)
        return
