"""Ranks of a server for decode, and of the one for prefill whose cache it takes over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import FEWER_RANKS_OF_DECODE, STARTED_PLAINLY
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.pools.pool_sides import by_side_channel, of_other_side, side_of
from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_RANKS: Final = ("--tensor-parallel-size", "-tp")


def fewer_ranks_of_decode(case: Case) -> Iterator[Remark]:
    """Each rank for decode reads a part of what one rank for prefill has kept: the reverse came later."""
    command, (first, mended) = case.commands[0], FEWER_RANKS_OF_DECODE
    if not case.version or not since(case.version, first) or since(case.version, mended):
        return
    if case.engine.program != STARTED_PLAINLY or side_of(command) != "decode" or not by_side_channel(command):
        return
    mine = _ranks(command)
    for other in of_other_side(case):
        its = _ranks(other)
        if side_of(other) != "prefill" or not by_side_channel(other) or not 0 < mine < its:
            continue
        message = (
            f"{mine} {'rank' if mine == 1 else 'ranks'} of tensor parallelism for decode, and {its} for prefill "
            f"({case.script.where(other.line)}): before {mended} the side for decode may not have fewer, and the first "
            "handshake ends by an assertion (Decode TP cannot be smaller than prefill TP)"
        )
        remedy = f"take {mended} or later, or as many ranks for decode as for prefill"
        place = case.option(_RANKS[0])
        at = place.index if place is not None else None
        yield make_remark(Severity.WARNING, Code.CONFLICT, _RANKS[0], message, remedy, at=at)
        return


def _ranks(command: Command) -> int:
    """As they are written, 1 where none are, 0 where they are not known."""
    word = value_of(command.argv, _RANKS)
    text = word.text.strip("'\"") if word is not None else "1"
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0
