"""A pretended machine for the search: settings with known effects, a clock that only measuring moves, and kills."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from moonpad.catalog.knobs import Knob, knobs
from moonpad.tune.candidate import DEFAULT, Candidate, Change
from moonpad.tune.driver import BudgetOver, run_search
from moonpad.tune.halving import Measure, Prove
from moonpad.tune.journal import TuneFolder
from moonpad.tune.order import Judged
from moonpad.tune.search import Search
from moonpad.tune.visit import Visit
from moonpad.values.records import replace

START_S = 30.0
REQUEST_S = 0.25


class Killed(Exception):
    """kill -9, as far as a test within one process can have it."""


def change(name: str, value: object) -> Candidate:
    knob: Knob = knobs()[name]
    return Candidate((Change.to(knob, value),))  # type: ignore[arg-type]


CANDIDATES = (
    *(change("max_num_batched_tokens", value) for value in (512, 1024, 2048, 8192)),
    *(change("max_num_seqs", value) for value in (8, 16, 32)),
    change("async_scheduling", True),
    change("prefix_caching", False),
    change("enforce_eager", False),
)


@dataclass
class Machine:
    """`effects`: by a change's words, what it multiplies the worth with. `wrong`: those that answer otherwise,
    `broken`: that do not start, `refused`: that do not fit. `noise`: the standard deviation of a run's logarithm.

    kill_at: raises Killed at that many calls of the measurer, counted from 1.
    """

    folder: TuneFolder
    effects: Mapping[str, float] = field(default_factory=dict)
    wrong: frozenset[str] = frozenset()
    broken: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    predicted: Mapping[str, float] = field(default_factory=dict)
    noise: float = 0.01
    base: float = 10.0
    whole_s: Mapping[str, float] = field(default_factory=dict)
    """What changes multiply the time of a whole answer with, which is 1 s."""
    kill_at: int = 0
    calls: int = 0
    measured: list[tuple[str, str]] = field(default_factory=list)
    judged: int = 0
    """How many candidates the planner was asked about."""

    def true_worth(self, candidate: Candidate) -> float:
        return self.base * math.prod(self.effects.get(one.words, 1.0) for one in candidate.changes)

    def judge(self, candidate: Candidate) -> Judged:
        self.judged += 1
        words = candidate.id
        return Judged(
            candidate,
            refused="needs 3.0 GiB, 2.0 GiB is left" if words in self.refused else "",
            predicted=self.predicted.get(words),
            order=min((knobs()[one.knob].order for one in candidate.changes), default=0),
        )

    def fingerprint(self, candidate: Candidate, requests: int) -> str:
        return f"{candidate.id} {requests}"

    def measure(self, search: Search, action: Measure, left_s: float, beat: Callable[[float], None]) -> Visit:
        self._count()
        self.measured.append((action.candidate, action.stage))
        load_s = REQUEST_S * action.requests * action.runs
        if START_S + load_s > left_s:
            beat(left_s)
            raise BudgetOver
        visit = Visit(action.candidate, action.stage, action.round, action.requests, seconds=START_S + load_s)
        candidate = search.candidate(action.candidate)
        if any(one.words in self.broken for one in candidate.changes):
            return replace(visit, problem="it did not start: no such option", seconds=5.0)
        dice = random.Random(f"{action} {candidate.id}")
        worth = self.true_worth(candidate)
        worths = tuple(worth * math.exp(dice.gauss(0, self.noise)) for _ in range(action.runs))
        samples = tuple(worth * math.exp(dice.gauss(0, self.noise)) for _ in range(20))
        whole_s = math.prod(self.whole_s.get(one.words, 1.0) for one in candidate.changes)
        times = {"start_s": START_S - 2, "load_s": load_s, "run_s": load_s / action.runs}
        return replace(visit, worths=worths, samples=samples, figures={"median_e2el_s": whole_s}, **times)

    def prove(self, search: Search, action: Prove, beat: Callable[[float], None]) -> Visit:
        self._count()
        self.measured.append((action.candidate, "proof"))
        candidate = search.candidate(action.candidate)
        wrong = any(one.words in self.wrong for one in candidate.changes)
        answers = ("log-probabilities differ by 0.4",) if wrong else ()
        return Visit(action.candidate, "proof", 0, 0, seconds=100.0, answers=answers)

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.kill_at:
            raise Killed

    def run(self, budget_s: float = 1e6, candidates: tuple[Candidate, ...] = CANDIDATES) -> Search:
        return run_search(
            self.folder,
            "throughput",
            lambda: candidates,
            self,
            requests=64,
            users=8,
            budget_s=budget_s,
        )


def machine(path: Path, **values: object) -> Machine:
    return Machine(TuneFolder(path), **values)  # type: ignore[arg-type]


__all__ = ["CANDIDATES", "DEFAULT", "Killed", "Machine", "change", "machine"]
