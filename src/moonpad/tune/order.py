"""In which order candidates are measured: by what is predicted, where the predictor knows the knob; else by rules.
Pure.

What does not fit is left out before anything starts, with the planner's own reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.tune.candidate import Candidate

SAME: Final = 0.01
"""A predicted change that is smaller says that the predictor does not know the knob."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate before it is measured. `refused`: why it cannot run; "" where it can.

    predicted: its worth over that of the default, by the model; None where nothing is predicted.
    order: of its knob among the others. answers: it may change what is answered.
    """

    candidate: Candidate
    refused: str = ""
    predicted: float | None = None
    order: int = 0
    restart: bool = True
    answers: bool = False

    @property
    def known(self) -> bool:
        return self.predicted is not None and abs(self.predicted - 1) > SAME


def measuring_order(judged: Sequence[Judged]) -> tuple[Judged, ...]:
    """Those that can run, the most promising first. Knobs take turns, each with its most promising value first, so that
    the values of one do not take all the time; what a running engine takes comes before what needs a start."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if not one.refused:
            groups[" ".join(change.knob for change in one.candidate.changes)].append(one)
    for group in groups.values():
        group.sort(key=lambda one: -(one.predicted if one.predicted is not None else 1.0))
    turns = [(turn, one) for group in groups.values() for turn, one in enumerate(group)]
    return tuple(one for _, one in sorted(turns, key=_key))


def _key(turn_and_one: tuple[int, Judged]) -> tuple[bool, int, int, float, int, str]:
    turn, one = turn_and_one
    gain = one.predicted if one.known and one.predicted is not None else 1.0
    # 0: a gain is predicted, 1: nothing is known, 2: a loss is predicted.
    promise = 0 if gain > 1 else 2 if gain < 1 else 1
    return one.restart, turn + (promise == 2), promise, -gain, one.order, one.candidate.id
