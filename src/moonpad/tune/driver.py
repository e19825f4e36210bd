"""The search as it runs: what is next is asked of the journal, done, and written down; again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from moonpad.tune.candidate import Candidate
from moonpad.tune.candidates import combined
from moonpad.tune.halving import Enter, Finish, Keep, Measure, Prove, next_action
from moonpad.tune.journal import TuneFolder
from moonpad.tune.order import Judged, measuring_order
from moonpad.tune.search import Search, replay
from moonpad.tune.visit import Visit
from moonpad.tune.worth import TuneGoal
from moonpad.values.records import as_dict

OnEvent = Callable[[str, dict[str, Any]], None]


class BudgetOver(Exception):
    """The budget ended within a visit, which is not kept."""


class Measurer(Protocol):
    """What starts, loads and stops a candidate; another one in tests."""

    def measure(self, search: Search, action: Measure, left_s: float, beat: Callable[[float], None]) -> Visit:
        """`beat` is told now and then how many seconds this visit has taken. Raises BudgetOver."""

    def prove(self, search: Search, action: Prove, beat: Callable[[float], None]) -> Visit: ...
    def fingerprint(self, candidate: Candidate, requests: int) -> str: ...
    def judge(self, candidate: Candidate) -> Judged: ...


def run_search(
    folder: TuneFolder,
    goal: TuneGoal,
    candidates: Callable[[], Sequence[Candidate]],
    measurer: Measurer,
    *,
    requests: int,
    users: int,
    budget_s: float,
    on_event: OnEvent = lambda name, fields: None,
) -> Search:
    """Goes on from whatever the journal says, to the end of the search or of the budget. `candidates` are asked for
    once: a tune that goes on has those of its beginning."""
    search = replay(goal, folder.events())
    if not search.order and not search.ended:
        _judge_all(folder, candidates(), measurer, on_event)
        search = replay(goal, folder.events())
    while True:
        action = next_action(search, requests, users, budget_s - search.spent_s)
        match action:
            case Finish():
                if action.complete and not search.ended:
                    folder.append("ended", because=action.because)
                search.ended = action.because
                return search
            case Enter():
                folder.append("sizes", sizes=as_dict(action.sizes), entered=list(action.entered))
                on_event("sizes", {"sizes": action.sizes, "entered": action.entered})
            case Keep():
                _keep(folder, search, action, measurer, on_event)
            case Prove():
                _prove(folder, search, action, measurer, on_event)
            case Measure():
                try:
                    _measure(folder, search, action, measurer, budget_s, on_event)
                except BudgetOver:
                    search = replay(goal, folder.events())
                    search.ended = "the budget is over"
                    return search
        search = replay(goal, folder.events())


def _judge_all(folder: TuneFolder, candidates: Sequence[Candidate], measurer: Measurer, on_event: OnEvent) -> None:
    judged = [measurer.judge(candidate) for candidate in candidates]
    for one in judged:
        _write_judged(folder, one)
    order = [one.candidate.id for one in measuring_order(judged)]
    folder.append("order", order=order)
    on_event("judged", {"judged": judged, "order": order})


def _write_judged(folder: TuneFolder, one: Judged) -> None:
    folder.append(
        "judged",
        changes=one.candidate.as_json(),
        refused=one.refused,
        predicted=one.predicted,
        order=one.order,
        restart=one.restart,
        answers=one.answers,
    )


def _keep(folder: TuneFolder, search: Search, action: Keep, measurer: Measurer, on_event: OnEvent) -> None:
    ranked = [(search.candidate(id_), ratio) for id_, ratio in action.ranked]
    known = [one.candidate for one in search.judged.values()]
    partners = [search.candidate(id_) for id_ in action.partners]
    together = [measurer.judge(candidate) for candidate in combined(ranked, known, partners)]
    for one in together:
        _write_judged(folder, one)
    best = [id_ for id_, gain in action.ranked if gain > 0][: action.count]
    kept = [*best, *(one.candidate.id for one in together if not one.refused)]
    folder.append("kept", kept=kept)
    on_event("kept", {"kept": kept})


def _prove(folder: TuneFolder, search: Search, action: Prove, measurer: Measurer, on_event: OnEvent) -> None:
    on_event("begin", {"candidate": action.candidate, "stage": "proof"})
    folder.append("begin", candidate=action.candidate, stage="proof", round=0)
    visit = measurer.prove(search, action, lambda seconds: folder.append("beat", seconds=round(seconds, 3)))
    folder.append("visit", visit=visit.as_json(), fingerprint="")
    on_event("visit", {"visit": visit})


def _measure(
    folder: TuneFolder, search: Search, action: Measure, measurer: Measurer, budget_s: float, on_event: OnEvent
) -> None:
    on_event("begin", {"candidate": action.candidate, "stage": action.stage})
    folder.append("begin", candidate=action.candidate, stage=action.stage, round=action.round)
    visit = measurer.measure(
        search, action, budget_s - search.spent_s, lambda seconds: folder.append("beat", seconds=round(seconds, 3))
    )
    print_ = "" if visit.problem else measurer.fingerprint(search.candidate(action.candidate), action.requests)
    folder.append("visit", visit=visit.as_json(), fingerprint=print_)
    on_event("visit", {"visit": visit})
