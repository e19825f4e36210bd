"""Ranks of data parallelism that a router counts in each worker, against the workers of the same text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_RANKS: Final = "--intra-node-data-parallel-size"
_OF_WORKERS: Final = ("--data-parallel-size", "--data-parallel-size-local", "--data-parallel-start-rank", "--dp-size")
_SHORT: Final = ("-dp", "-dpl", "--dp")
_MOST: Final = 300


def ranks_of_router(case: Case) -> Iterator[Remark]:
    """Told with the first server: none of the text has data parallelism, and the router counts ranks of it."""
    script = case.script
    if len(script.commands) > _MOST or not is_first_server(case.commands, script):
        return
    script.budget.work(len(script.commands), "its engine commands")
    servers = [each for each in script.commands if is_server(each.program)]
    if not servers or any(each.unresolved or each.more or _has_ranks(each) for each in servers):
        return
    for command in script.commands:
        value = value_of(command.words, (_RANKS,))
        if value is None or not value.text.isdigit() or int(value.text) < 2:
            continue
        message = f"{script.where(value.line)}: {_RANKS} {value.text}, and no server of the text has data parallelism: "
        message += "the router sends requests to ranks that are not there"
        remedy = f"leave {_RANKS} out, or start the servers with --data-parallel-size {value.text}"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, _RANKS, message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _has_ranks(command: Command) -> bool:
    return any(word.text.partition("=")[0] in (*_OF_WORKERS, *_SHORT) for word in command.argv)
