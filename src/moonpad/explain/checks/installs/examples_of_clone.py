"""Files of `examples/`, a folder of the engine's repository that its packages do not bring."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity

_FLAGS: Final = ("--chat-template", "--tool-parser-plugin", "--reasoning-parser-plugin")
_FILE: Final = re.compile(r"(?:\./)?examples/[\w./-]+\.(?:jinja2?|py)")
_BY_PACKAGE: Final = re.compile(
    r"(?:^|[\s`$(])pip3?[ \t]+install\b(?!.*(?:[ \t]-e\b|--editable|[ \t]\.(?:[\[/ \t]|$)))"
)
_ELSEWHERE: Final = re.compile(
    r"git clone|docker|podman|\bimage:|Dockerfile|\bwget\b|\bcurl\b[^|]*(?:-O|-o|>|--output)|\bcd[ \t]+|pushd|workspace"
    r"|WorkingDirectory|mkdir|\bFROM[ \t]|\bcp[ \t]|--editable|install[ \t]+-e\b|source build|from source",
    re.IGNORECASE,
)
"""Where the file may come from after all."""


def examples_of_clone(case: Case) -> Iterator[Remark]:
    """The engine is installed by pip, and nothing of the text brings its repository."""
    command, script = case.commands[0], case.script
    if command.container is not None or is_fragment(command) or script.objects or command.embedded:
        return
    for flag in _FLAGS:
        place = case.option(flag)
        value = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
        if place is None or _FILE.fullmatch(value) is None:
            continue
        lines = [text for _, text in numbered(script, 1, len(script.lines))]
        if not any(_BY_PACKAGE.search(line) for line in lines) or any(_ELSEWHERE.search(line) for line in lines):
            return
        message = f"{shortened(value)} lies in the engine's repository, and a package brings no examples: there is no "
        message += "such file, and the start ends"
        remedy = "clone the repository and give the path in it, or leave it out where the checkpoint brings its own"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, remedy, at=place.index)
        return
