"""What a list of flags leaves to be guessed: the model and the layout, which a whole command would have."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from moonpad.engines.base import Reading
from moonpad.engines.command_line import CommandLine
from moonpad.explain.commands import Command, Script
from moonpad.explain.flag_lists import LAYOUT, borrowed, is_edit, is_fragment
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Severity
from moonpad.values.plan import Layout
from moonpad.values.records import replace

guess = partial(make_remark, Severity.NOTE, Code.MISSING_FLAG)


def whole_layout(first: Reading, cluster: Cluster | None, command: Command, line: CommandLine) -> Reading:
    """A list of flags that says nothing of the layout, here or above, is for all devices that there are."""
    if first.takes_all_devices and cluster is not None:
        by_ranks = "tp" in line.options
        return replace(first, layout=Layout(tp=cluster.devices) if by_ranks else Layout(pp=cluster.devices))
    silent = first.layout == Layout() and first.replicas == 1 and is_fragment(command)
    if not silent or cluster is None or cluster.devices == 1 or "tp" not in line.options:
        return first
    if any(first.parsed.occurrence(line.options.get(name)) for name in LAYOUT):
        return first
    return replace(first, layout=Layout(tp=cluster.devices))


def open_ranks(first: Reading, cluster: Cluster | None, line: CommandLine) -> frozenset[str]:
    """Of a program that starts a rank on each device that it finds, where none are known."""
    open_ended = first.takes_all_devices and cluster is None and "tp" in line.options
    return frozenset({"tp"}) if open_ended else frozenset()


def guesses(
    first: Reading,
    whole: Reading,
    checkpoint: Checkpoint | None,
    command: Command,
    line: CommandLine,
    script: Script,
) -> Iterator[Remark]:
    """What a list of flags leaves to be guessed, with what makes a command of it. `whole`: with the layout that it is
    taken to have."""
    if not is_fragment(command):
        return
    if not first.model and checkpoint is not None:
        words = (line.model, checkpoint.name) if line.model else (checkpoint.name,)
        yield guess("MODEL", f"taken to be {checkpoint.name}", "name it", edits=[Edit(0, 0, words)])
    flag = line.options.get("tp")
    taken = borrowed(command)
    changes = is_edit(command, script.lines)
    if flag is not None and taken:
        above, remedy = script.where(taken[0].line), f"add {' '.join(word.text for word in taken)}"
        if changes:
            yield guess("options", f"only what is changed is given: the rest is taken to be that of {above}", remedy)
        else:
            yield guess(flag, f"no layout is given: taken to be that of {above}", remedy)
    if flag is not None and whole is not first and (changes or not taken):
        size = str(whole.layout.tp)
        edit = Edit(len(command.argv), 0, (flag, size))
        yield guess(flag, f"no layout is given: taken to be all {size} devices", f"add {flag} {size}", edits=[edit])
