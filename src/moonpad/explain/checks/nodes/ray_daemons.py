"""Processes of Ray that end with what started them: a step of Slurm, a container; and two heads for one cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_BLOCK: Final = "--block"
_STAYS: Final = re.compile(
    r"\bsleep\b|\btail[ \t]+-\w*[fF]|\bwait\b|\bwhile\b|\bexec\b|\bread\b|serve\b|launch_server|infinity"
)
_STOPS: Final = re.compile(r"\bray[ \t]+stop\b|\belse\b|\bcase\b")
_MOST: Final = 50
_LONGEST: Final = 40
"""Lines of one command."""


def ray_without_block(case: Case) -> Iterator[Remark]:
    """`srun … ray start --head`: it returns at once, and Slurm or Docker ends what it has started."""
    script = case.script
    if not is_first_server(case.commands, script) or script.objects:
        return
    for node in _starts(case):
        if any(word.text.partition("=")[0] == _BLOCK for word in node.argv):
            continue
        kinds = {wrapper.kind for wrapper in node.wrappers}
        step, container = "srun" in kinds, node.container
        in_container = container is not None and container.kind == "docker run" and bool(container.words)
        if not (step or in_container) or kinds & {"docker exec", "ssh"}:
            continue
        last, own = _whole(case, node)
        if _STAYS.search(own) or any(
            each is not node and (node.line <= each.line <= last or (in_container and each.container is container))
            for each in script.commands
        ):
            continue
        what = "the container ends with it" if in_container else "the step ends, and Slurm ends what it left behind"
        message = f"{script.where(node.line)}: without {_BLOCK} ray start returns at once: {what}"
        remedy = f"add {_BLOCK}" if in_container else f"add {_BLOCK}, and & behind the step"
        finding = make_remark(Severity.WARNING, Code.MISSING_FLAG, _BLOCK, message, remedy).finding
        yield Remark(finding, command=None)
        return


def _whole(case: Case, node: Command) -> tuple[int, str]:
    """The last line of the command that starts it, and all of its text: a quotation goes on over lines."""
    last = max((word.end_line for word in node.words), default=node.line)
    own = ""
    for number, text in numbered(case.script, node.line, node.line + _LONGEST):
        own += f"{text.rstrip()}\n"
        open_yet = own.count('"') % 2 or own.count("'") % 2 or own.endswith("\\\n")
        if number >= last and not open_yet:
            return number, own
    return last, own


def two_ray_heads(case: Case) -> Iterator[Remark]:
    """`ray start --head` on both machines of an engine that needs both: two clusters of one machine each."""
    script = case.script
    if (
        not is_first_server(case.commands, script)
        or case.text(names.EXECUTOR).strip("'\"") != "ray"
        or not case.laid_out
    ):
        return
    starts = _starts(case)
    heads = [node for node in starts if any(word.text == "--head" for word in node.argv)]
    machines = case.cluster.nodes if case.cluster is not None else 1
    ranks = case.first.layout.world_size
    if (
        len(heads) < 2
        or len(heads) != len(starts)
        or any(node.arms or node.line >= case.commands[0].line for node in heads)
    ):
        return
    if (machines < 2 and ranks <= _ON_ONE) or len({node.heading for node in heads}) > 1:
        return
    between = numbered(script, heads[0].line, case.commands[0].line)
    if any(_STOPS.search(text) for _, text in between):
        return
    message = f"{script.where(heads[1].line)}: --head starts a second cluster beside that of "
    message += f"{script.where(heads[0].line)}: the engine sees the devices of one machine alone"
    remedy = "on every machine but the first write ray start --address=HEAD:6379"
    yield Remark(make_remark(Severity.WARNING, Code.CONFLICT, "--head", message, remedy).finding, command=None)


_ON_ONE: Final = 8
"""Devices that a usual machine has."""


def _starts(case: Case) -> list[Command]:
    """Behind a label too (`Node 1: ray start --head`), with which the program is not known."""
    starts: list[Command] = []
    for each in case.script.commands:
        words = [word.text for word in each.argv[:2]]
        if (each.program == "ray" and words[:1] == ["start"]) or (
            each.program == "other" and words == ["ray", "start"]
        ):
            starts.append(each)
    return starts[:_MOST]
