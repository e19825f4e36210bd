"""Files of an engine's repository that its package does not bring, and no step of the text fetches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_FLAG: Final = "--chat-template"
_FETCHES: Final = re.compile(
    r"git[ \t]+clone|(?:^|[ \t])(?:docker|podman|apptainer|singularity)[ \t]|^[ \t]*(?:COPY|ADD)[ \t]|^[ \t]*image:"
    r"|(?:curl|wget)\b.*(?:\.jinja|githubusercontent|[ \t]-[a-zA-Z]*[oO])|(?:^|[ \t>;&])cd[ \t]+\S"
    r"|(?:hf|huggingface-cli|modelscope)[ \t]+download"
)
_INSTALLS: Final = re.compile(r"\bpip3?[ \t]+install\b(?![^#\n]*[ \t](?:-e|--editable|\.)(?:[ \t]|$))")
_LONGEST: Final = 1000


def file_of_repository(case: Case) -> Iterator[Remark]:
    """`pip install` of the engine and `--chat-template examples/….jinja`, without a clone."""
    place, folder = case.option(_FLAG), names.OF_REPOSITORY.get(case.base, "")
    path = case.text(_FLAG).strip("'\"").removeprefix("./")
    command = case.commands[0]
    if place is None or not folder or not path.startswith(folder) or command.container is not None or command.wrappers:
        return
    script = case.script
    script.budget.work(2 * len(script.lines), "its installation")
    lines = [line[:_LONGEST] for line in script.lines]
    own = re.compile(rf"[ \t\"']{re.escape(case.base)}(?![\w\[/.-])")
    installs = any(_INSTALLS.search(line) and own.search(line) for line in lines)
    if not installs or any(_FETCHES.search(line) for line in lines):
        return
    message = f"{shortened(path, 80)} is a path of the repository, which the package that pip installs does not bring: "
    message += "the file is not found"
    remedy = "leave it out where the checkpoint has its template, or fetch the file and write where it is"
    yield make_remark(Severity.WARNING, Code.INVALID_VALUE, _FLAG, message, remedy, at=place.index)
