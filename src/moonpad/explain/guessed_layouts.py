"""What a list of flags leaves to be guessed: the model and the layout, which a whole command would have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from moonpad.engines.base import Reading
from moonpad.engines.command_line import CommandLine
from moonpad.explain.commands import Command, Script, Word
from moonpad.explain.flag_lists import LAYOUT, borrowed, is_edit, is_fragment
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Severity
from moonpad.values.plan import Layout
from moonpad.values.records import replace

_ANCHOR: Final = re.compile(r":[ \t]*&([\w-]{1,80})[ \t]*(?:#.*)?$")
_LONGEST: Final = 300
_ABOVE: Final = 3
"""Lines from a list's first option up to the key with its anchor."""

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
    if flag is not None and taken and not _are_named(taken, command, script):
        above, remedy = script.where(taken[0].line), f"add {' '.join(word.text for word in taken)}"
        if changes:
            yield guess("options", f"only what is changed is given: the rest is taken to be that of {above}", remedy)
        else:
            yield guess(flag, f"no layout is given: taken to be that of {above}", remedy)
    if flag is not None and whole is not first and (changes or not taken):
        size = str(whole.layout.tp)
        edit = Edit(len(command.argv), 0, (flag, size))
        yield guess(flag, f"no layout is given: taken to be all {size} devices", f"add {flag} {size}", edits=[edit])


def _are_named(taken: Sequence[Word], command: Command, script: Script) -> bool:
    """Whether YAML's own reference brings the words, `server_cmd: *server_cmd`: they are given, and not guessed."""
    first = min(word.line for word in taken)
    heads = script.lines[max(0, first - _ABOVE) : first]
    names = [match[1] for line in heads if (match := _ANCHOR.search(line[:_LONGEST])) is not None]
    if not names:
        return False
    script.budget.work((command.line - first) // 20, "the text around its engine commands")
    reference = re.compile(rf"(?<![\w*])\*{re.escape(names[-1])}(?![\w-])")
    return any(reference.search(line[:_LONGEST]) for line in script.lines[first : command.line])
