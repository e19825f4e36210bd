"""Models without their owner, in programs beside the servers: in Python, and of demonstrations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.publishers import owner_of
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.repository_names import has_folder
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_CALL: Final = re.compile(
    r"\b(?:LLM|Engine|from_pretrained|from_engine_args|AsyncEngineArgs|EngineArgs)\([^()#]*?"
    r"(?:\b(?:model|model_path)[ ]?=[ ]?|(?<=\())[\"'](?P<name>[A-Za-z][\w.-]{4,80})[\"']"
)
_OPTION: Final = re.compile(r"(?:^|[ \t])--model(?:-path)?[ =](?P<name>[A-Za-z][\w.-]{4,80})(?=[ \t\\]|$)")
_LONGEST: Final = 1000
_MOST: Final = 4


def bare_name(case: Case) -> Iterator[Remark]:
    """`LLM(model="NAME")` in a document that has the owner elsewhere, so that no folder of that name is meant."""
    script = case.script
    if not script.markdown or not is_first_server(case.commands, script):
        return
    script.budget.work(2 * len(script.lines), "its lines")
    lines = [line[:_LONGEST] for line in script.lines]
    told = {reading.model for reading in case.readings}
    told |= {
        word.text for command in script.commands if command.program not in ("other", "docker") for word in command.words
    }
    found: list[str] = []
    for number, line in enumerate(lines, 1):
        match = _CALL.search(line) or _OPTION.search(line)
        name = match["name"] if match is not None else ""
        owner = owner_of(name) if name and name not in told and name not in found else ""
        if not owner or not any(f"{owner}/{name[:4]}" in each for each in lines) or has_folder(name, owner, case):
            continue
        found.append(name)
        message = (
            f"{script.where(number)}: {name} is a folder of the working directory, and where there is none the hub "
        )
        message += f"is asked for a repository without an owner, which it does not have; it is {owner}/{name}"
        remark = make_remark(Severity.WARNING, Code.MODEL_NAME, name, message, f"write {owner}/{name}")
        yield replace(remark, command=None)
        if len(found) == _MOST:
            return
