"""A context that was asked for is cut in a corrected command only where nothing else mends the fault: what a later
release mends as well, or what stretches the positions of a model, is for a person to choose."""

from __future__ import annotations

from typing import Final

from moonpad.catalog.former_options import same_options
from moonpad.engines import ENGINES
from moonpad.explain.commands import Command
from moonpad.explain.grouping import Group
from moonpad.explain.results import Edit, Judged, Remark
from moonpad.values.finding import Code
from moonpad.values.records import replace

_ALTERNATIVE: Final = ", or "
_ROOM: Final = ("max_model_len", "cpu_offload_gib")
"""Our names of what is asked for so that long requests, or the weights, have room."""


def with_kept_contexts(judged: Judged, meant: Group) -> Judged:
    """Without the edits that write or leave out such an option, of remedies that name another way."""
    engine = ENGINES.get(judged.engine)
    if engine is None:
        return judged
    options = engine.command_line.options
    same = same_options(engine.program)
    names = {other for name in _ROOM if (flag := options.get(name)) for other in (flag, *same.get(flag, ()))}
    remarks = tuple(_kept(remark, meant, frozenset(names)) for remark in judged.remarks)
    return replace(judged, remarks=remarks)


def _kept(remark: Remark, meant: Group, names: frozenset[str]) -> Remark:
    told = remark.complained or remark.finding.code is Code.LOGGED_FAILURE  # its own engine ended at it
    if told or _ALTERNATIVE not in remark.finding.remedy or not remark.edits:
        return remark
    command = meant.commands[remark.command or 0]
    return _unedited(remark) if any(_changes(edit, command, names) for edit in remark.edits) else remark


def _changes(edit: Edit, command: Command, names: frozenset[str]) -> bool:
    """Whether the option is among the words that it takes out, and was there before."""
    taken = (word.text.partition("=")[0] for word in command.argv[edit.at : edit.at + edit.length])
    return not names.isdisjoint(taken)


def _unedited(remark: Remark) -> Remark:
    return replace(remark, edits=(), others=(), sets=(), unsets=())
