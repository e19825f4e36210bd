"""Options of a worker of Dynamo, behind the engine's own server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.command_line import DYNAMO
from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE
from moonpad.engines.surrounding_names import BY_SUBCOMMANDS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_WHOLE: Final = frozenset(option for option in DYNAMO if not option.endswith("-") and option != "--endpoint")


def option_of_worker(case: Case) -> Iterator[Remark]:
    """`vllm serve NAME --disaggregation-mode prefill`."""
    if case.base != EXPERTS_BY_VARIABLE:
        return
    for number, command in enumerate(case.commands):
        begun = [word.text.rpartition("/")[2] for word in command.prefix[-2:]]
        options = option_set(command.program, case.version or None)
        if " ".join(begun) not in BY_SUBCOMMANDS.values() or options is None:
            continue
        for at, word in enumerate(command.argv):
            flag = word.text.partition("=")[0]
            if flag not in _WHOLE or options.named(flag) is not None:
                continue
            message = (
                f"{case.engine.facts.title} has no {flag}, which is one of Dynamo's worker: the command fails at once"
            )
            remedy = "leave it out: a server's side is kv_role in --kv-transfer-config"
            remark = make_remark(Severity.ERROR, Code.UNKNOWN_FLAG, flag, message, remedy, at=at)
            yield replace(remark, command=number)
            return
