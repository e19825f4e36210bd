"""Nodes that are meant to be one group, and are told other sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import ADDRESS, model_of, value_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_NODES: Final = ("--nnodes",)
_RANK: Final = ("--node-rank", "-r")
_SIZES: Final = (
    ("--tensor-parallel-size", "-tp", "--tp-size", "--tp"),
    ("--pipeline-parallel-size", "-pp", "--pp-size", "--pp"),
    ("--data-parallel-size", "-dp", "--dp-size", "--dp"),
)
_HERE: Final = re.compile(r"(?:127\.|localhost|0\.0\.0\.0|\[?::)")
_MOST: Final = 60
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
"""A model of a hub: folders may differ from node to node."""


def unlike_sizes(case: Case) -> Iterator[Remark]:
    """Two nodes that meet at one place, one with `--tp 16` and the other with `--tp 8`."""
    command, script = case.commands[0], case.script
    mine = _meets(command)
    if mine is None or len(script.commands) > _MOST or is_fragment(command):
        return
    meeting = [each for each in script.commands if each.program == command.program and _meets(each) == mine]
    if len(case.commands) > 1 or any(_same(each, command) and each is not command for each in meeting):
        return  # a guide gives several layouts for the same machines: this one has its nodes
    for other in meeting:
        alone = not any(_same(each, other) and each is not other for each in meeting)
        if other.line >= command.line or _text(other, _RANK) == _text(command, _RANK) or not alone:
            continue
        models = [(model_of(each) or "").strip("'\"") for each in (command, other)]
        if len({*models}) > 1 and all(_REPOSITORY.fullmatch(model) for model in models):
            message = f"{shortened(models[0], 60)} here and {shortened(models[1], 60)} in {script.where(other.line)}, "
            message += f"and both nodes meet at {mine[1]}: the ranks load different weights"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, "model", message, "give all nodes the same")
            yield Remark(remark.finding, command=0)
            return
        for flags in _SIZES:
            here, there = _text(command, flags), _text(other, flags)
            if here == there or unresolved(here) or unresolved(there):
                continue
            message = f"{flags[0]} is {here or 'not given'} here and {there or 'not given'} in "
            message += f"{script.where(other.line)}, and both nodes meet at {mine[1]}: the group is never complete"
            where = next((flag for flag in flags if any(each.text == flag for each in command.argv)), flags[0])
            remark = make_remark(Severity.WARNING, Code.CONFLICT, where, message, "give all nodes the same")
            yield Remark(remark.finding, command=0)
            return


def _same(one: Command, two: Command) -> bool:
    return model_of(one) == model_of(two) and all(_text(one, flags) == _text(two, flags) for flags in _SIZES)


def _meets(command: Command) -> tuple[str, str] | None:
    """How many nodes and where, of a command that is one of several; None where it does not say it."""
    nodes, place = _text(command, _NODES), _text(command, ADDRESS)
    if not nodes.isdigit() or int(nodes) < 2 or not place or unresolved(place) or _HERE.match(place):
        return None
    return (nodes, place) if _text(command, _RANK) else None


def _text(command: Command, flags: tuple[str, ...]) -> str:
    word = value_of(command.argv, flags)
    return word.text.strip("'\"") if word is not None else ""
