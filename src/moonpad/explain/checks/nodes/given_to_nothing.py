"""Addresses, ranks and counts of machines that a script reads and gives to no command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.explain.checks.check_case import Case
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_NODES: Final = "--nnodes"
_SET: Final = re.compile(
    r"[ \t]*(?:(?:local|readonly|declare)[ ]+)?"
    r"(?P<name>(?:MASTER|HEAD|LEADER|DIST_INIT)_?(?:NODE_?)?(?:IP|ADDR(?:ESS)?|HOST)"
    r"|N_?NODES|NUM_NODES|NODE_COUNT|NODE_?RANK)=[\"']?(?:\$[1-9]|\$\{(?:[1-9]|(?P=name))(?::?[-?=][^\n]{0,120})?\})"
)
"""`MASTER_IP="${4:-127.0.0.1}"`: what whoever starts the script is asked for."""
_SHOWS: Final = re.compile(r"[ \t]*(?:echo|printf|log\w*|info|print)\b(?![^#\n]{0,300}(?:>|\|))|[ \t]*#")
_HANDED_ON: Final = re.compile(
    r"\b(?:export|source|envsubst|eval|set[ ]+-\w*a|ssh|srun|mpirun|torchrun|ray)\b|^[ \t]*\.[ ]"
)
_MEETS: Final = re.compile(r"--(?:nnodes|node-rank|dist-init-addr|nccl-init-addr|master-addr|data-parallel-address)\b")
_MOST: Final = 2_000


def given_to_nothing(case: Case) -> Iterator[Remark]:
    """`MASTER_IP="${4:-127.0.0.1}"`, which is printed alone: the server starts on one machine, whatever it is."""
    command, script = case.commands[0], case.script
    if script.markdown or script.objects or len(script.lines) > _MOST or script.origins[1:]:
        return
    if len(case.commands) > 1 or case.open_ended or is_fragment(command) or not is_first_server(case.commands, script):
        return
    options = option_set(command.program)
    if options is None or options.named(_NODES) is None or case.option(_NODES) is not None:
        return
    lines = [text for _, text in numbered(script, 1, len(script.lines))]
    found = next(((at, match["name"]) for at, text in enumerate(lines) if (match := _SET.match(text))), None)
    if found is None or any(_HANDED_ON.search(text) or _MEETS.search(text) for text in lines):
        return
    at, name = found
    if not _is_only_shown(name, at, lines):
        return
    message = f"{script.where(at + 1)}: {name} is read and given to no command: the server starts on this machine alone"
    meet = "--dist-init-addr" if options.named("--dist-init-addr") is not None else "--master-addr"
    remedy = f"add {_NODES}, --node-rank and {meet} with it where several machines are meant, or leave it out"
    yield Remark(make_remark(Severity.WARNING, Code.MISSING_FLAG, name, message, remedy).finding, command=None)


def _is_only_shown(name: str, at: int, lines: Sequence[str]) -> bool:
    """Whether nothing but lines that print it, and the one that sets it, speak of it."""
    used = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return all(number == at or _SHOWS.match(text) or not used.search(text) for number, text in enumerate(lines))
