"""A KV cache that is told by its number of blocks, which the engine takes without looking at what is left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.plan.judgement import judge
from moonpad.values.finding import Code, Severity
from moonpad.values.units import gib

_BLOCKS: Final = "--num-gpu-blocks-override"
_SIZE: Final = "--block-size"
_LEAST: Final = 16
"""Tokens of a block where no option says it; some attention backends take 64 or 128."""


def told_blocks(case: Case) -> Iterator[Remark]:
    """More blocks than a device has memory for beside the weights."""
    place, subject, checkpoint = case.option(_BLOCKS), case.subject, case.checkpoint
    if place is None or subject is None or checkpoint is None or not case.whole:
        return
    blocks = case.size(_BLOCKS)
    given = case.option(_SIZE) is not None
    tokens = blocks * (case.size(_SIZE) if given else _LEAST)
    if blocks < 2 or checkpoint.architecture.linear is not None:
        return
    case.script.budget.work(400, "its engine commands")
    memory = judge(subject.configuration, context=subject.context, calibrations=subject.calibrations).memory
    if memory is None or memory.kv_tokens.value < 1:
        return
    needed = tokens * memory.kv_bytes.value / memory.kv_tokens.value
    left = memory.device_bytes - memory.weights_bytes
    if needed <= left:
        return
    size = f"{case.size(_SIZE)} tokens" if given else f"{_LEAST} tokens or more"
    message = f"{blocks:,} blocks of {size} take {gib(needed)} on each device, and beside the weights it has "
    message += f"{gib(max(left, 0))}: out of memory, since the engine takes the number as it is told"
    edit = Edit(place.index, place.length, ())
    remedy = "leave it out: the engine counts how many blocks fit"
    yield make_remark(Severity.ERROR, Code.INVALID_VALUE, _BLOCKS, message, remedy, at=place.index, edits=[edit])
