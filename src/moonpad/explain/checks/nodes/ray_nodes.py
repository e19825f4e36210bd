"""What the nodes of one Ray cluster are told, against each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_KEEPS: Final = "RAY_EXPERIMENTAL_NOSET_"
_MOST: Final = 50


def kept_on_one_node(case: Case) -> Iterator[Remark]:
    """`RAY_EXPERIMENTAL_NOSET_…_VISIBLE_DEVICES=1` for the workers and not for the head, or the other way."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    starts = [command for command in script.commands if command.program == "ray"][:_MOST]
    nodes = [command for command in starts if command.argv and command.argv[0].text == "start"]
    heads = [node for node in nodes if any(word.text == "--head" for word in node.argv)]
    others = [node for node in nodes if node not in heads]
    if len(heads) != 1 or not others:
        return
    for name in dict.fromkeys(name for node in nodes for name in node.env if name.startswith(_KEEPS)):
        without = [node for node in nodes if name not in node.env]
        if not without or len({name in node.env for node in others}) > 1:
            continue
        line = script.where(without[0].line)
        message = f"{name} is set for some nodes of the cluster, and not for ray start in {line}: there Ray itself "
        message += "changes which devices its processes see, and the ranks of the nodes number them differently"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, name, message, "export it before each ray start")
        yield Remark(remark.finding, command=None)
        return
