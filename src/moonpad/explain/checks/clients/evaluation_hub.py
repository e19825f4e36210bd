"""Where an evaluation looks for its datasets, in a container that takes models from another hub."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_EVALUATES: Final = "lm_eval"
_OWN_SWITCH: Final = "USE_MODELSCOPE_HUB"
_ON: Final = ("1", "true")


def hub_of_datasets(case: Case) -> Iterator[Remark]:
    """`docker run -e …_USE_MODELSCOPE=True`, and lm_eval below it: datasets are looked for at ModelScope too."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    containers = [command for command in script.commands if command.container is not None and _is_on(command)]
    first = min((command.line for command in containers), default=None)
    for command in script.commands if first is not None else ():
        inside = command.container is None or _is_on(command)
        if command.program != _EVALUATES or not inside or command.line < (first or 0) or _OWN_SWITCH in command.env:
            continue
        message = f"{script.where(command.line)}: the container is started with {names.HUB_SWITCH}, and there lm_eval "
        message += "may look for its datasets at ModelScope, which does not have them"
        remedy = f"export {_OWN_SWITCH}=0 before lm_eval"
        remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, _OWN_SWITCH, message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _is_on(command: Command) -> bool:
    word = command.env.get(names.HUB_SWITCH)
    return word is not None and word.text.removeprefix(f"{names.HUB_SWITCH}=").strip("'\"").casefold() in _ON
