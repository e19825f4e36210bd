"""Successive halving: many candidates are measured shortly, few of them longer, one or two against the default until
the ratio has an interval. Pure: what is next follows from what was done.

After Jamieson & Talwalkar, Non-stochastic best arm identification and hyperparameter optimization (2016), with the
default beside every few candidates, since a machine drifts, and with the best single changes together in the second
stage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.tune.candidate import DEFAULT, Candidate
from moonpad.tune.search import Search, Sizes
from moonpad.tune.visit import Stage
from moonpad.values.records import replace

BLOCK: Final = 4
"""So many candidates between two visits of the default."""
KEEP: Final = 3
"""One of so many goes on."""
TOGETHER: Final = 4
"""Combinations that are counted on."""
SCHEMES: Final = ((2, 3, 2), (1, 3, 2), (1, 2, 3))
"""(finalists, rounds, runs of each visit), the most thorough first. Six runs of a side give an interval."""
SAME: Final = 0.03
"""A combination that is better than a part of itself by less than this share is not worth its other changes."""
TRIES: Final = 3
MOST_ROUNDS: Final = 8
SEEMS: Final = 1.05
"""A gain that is worth another round, where its interval does not lie above 1 yet."""
MARGIN: Final = 1.1
"""Visits take longer than those before by so much at times."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Start the candidate, run the load, stop it. `record`: of the default, what its answers are."""

    candidate: str
    stage: Stage
    round: int
    requests: int
    runs: int
    record: bool = False


@dataclass(frozen=True, slots=True)
class Prove:
    """Start the candidate, which won, and hold its answers against the default's. It takes nothing of the budget, which
    is for measuring: a winner without its proof is none."""

    candidate: str


@dataclass(frozen=True, slots=True)
class Enter:
    """Decide how much is measured: what one visit takes is known now."""

    sizes: Sizes
    entered: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keep:
    """Choose what goes on: the ids of single changes, best first with their ratios. Their combinations join them, also
    with `partners`."""

    ranked: tuple[tuple[str, float], ...]
    count: int
    partners: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finish:
    """`complete`: nothing is left to do; otherwise the budget is over."""

    because: str
    complete: bool


Action = Measure | Prove | Enter | Keep | Finish


def next_action(search: Search, requests: int, users: int, left_s: float) -> Action:
    """`requests`: of one run in the last stage; `users`: at once, of which each has several turns; `left_s`: of the
    budget."""
    if search.ended:
        return Finish(search.ended, complete=True)
    if not search.order:
        return Finish("nothing can be changed: no candidate fits", complete=True)
    first = [visit for visit in search.of(DEFAULT, "screen") if not visit.kept_from]
    screen = min(requests, max(math.ceil(requests / 4), 2 * users))
    if first and first[0].worth is None:
        return Finish(f"the default cannot be measured: {first[0].problem}", complete=True)
    if not first:
        return Measure(DEFAULT, "screen", 0, screen, 1, record=True)
    if (again := _default_again(search)) is not None:
        return again
    if search.sizes is None:
        sizes = sizes_for(search, requests, screen, left_s)
        return Enter(sizes, search.order[: sizes.enter])
    action = _screening(search, search.sizes) or _again(search, search.sizes) or _final(search, search.sizes, left_s)
    if isinstance(action, Measure) and visit_s(search, action.requests, action.runs) > left_s:
        return Finish("the budget is over", complete=False)
    return action


def _default_again(search: Search) -> Action | None:
    """Where its last visit failed though its first did not: without it nothing can be compared."""
    failed = 0
    for visit in reversed(search.visits):
        if visit.candidate != DEFAULT or not visit.problem or visit.stage == "proof":
            break
        failed += 1
    if not failed:
        return None
    last = search.visits[-1]
    if failed >= TRIES:
        return Finish(f"the default failed {failed} times: {last.problem}; --fresh begins again", complete=False)
    runs = search.sizes.runs if search.sizes and last.stage == "final" else 1
    return Measure(DEFAULT, last.stage, last.round, last.requests, runs)


def visit_s(search: Search, requests: int, runs: int = 1) -> float:
    """What a visit is expected to take, from those before: the start and the stop, what each run takes besides its
    requests (words are weighed, and the engine is warmed up), and each request."""
    measured = [visit for visit in search.visits if visit.worth is not None and not visit.kept_from]
    whole = [visit for visit in measured if visit.load_s > 0 and not visit.hopeless]
    if not whole:
        return 0.0
    around = sorted(visit.seconds - visit.load_s for visit in whole if visit.answers is None)
    around = around or sorted(visit.start_s for visit in whole)
    each = sorted(visit.run_s / max(1, visit.requests) for visit in whole)
    besides = sorted(max(0.0, visit.load_s / len(visit.worths) - visit.run_s) for visit in whole)
    run_s = besides[len(besides) // 2] + each[len(each) // 2] * requests
    return MARGIN * (around[len(around) // 2] + runs * run_s)


def sizes_for(search: Search, requests: int, screen: int, left_s: float) -> Sizes:
    """As many candidates as the budget takes beside the last stage, which is thorough if it can be."""
    again = min(requests, max(screen, math.ceil(requests / 2)))
    for finalists, rounds, runs in SCHEMES:
        last_s = (1 + finalists) * rounds * visit_s(search, requests, runs)
        for enter in range(len(search.order), 0, -1):
            middle = min(enter, max(2, math.ceil(enter / KEEP))) + TOGETHER if enter > 2 else 0
            screen_s = (enter + math.ceil(enter / BLOCK)) * visit_s(search, screen)
            again_s = (middle + 2) * visit_s(search, again) if middle else 0.0
            if screen_s + again_s + last_s <= left_s and (enter >= 3 or enter == len(search.order)):
                return Sizes(screen, again, requests, enter, rounds, runs, min(finalists, enter))
    return Sizes(screen, again, requests, min(2, len(search.order)), 2, 3, 1)


# --- the stages ------------------------------------------------------------------------------------------------------


def _screening(search: Search, sizes: Sizes) -> Action | None:
    done = {visit.candidate for visit in search.visits if visit.stage == "screen"}
    missing = [id_ for id_ in search.entered if id_ not in done]
    if missing and not _default_is_due(search, "screen"):
        return Measure(missing[0], "screen", 0, sizes.screen, 1)
    if missing or not _ends_with_default(search, "screen"):
        return Measure(DEFAULT, "screen", 0, sizes.screen, 1)
    if search.kept is None:
        ranked = search.ranked(search.entered, "screen")
        partners = tuple(search.partners(search.entered, "screen"))
        return Keep(tuple(ranked), max(2, math.ceil(len(search.entered) / KEEP)), partners)
    return None


def _again(search: Search, sizes: Sizes) -> Action | None:
    if len(search.entered) <= 2 and not set(search.kept or ()) - set(search.entered):
        return None  # the last stage takes them as they are
    done = {visit.candidate for visit in search.visits if visit.stage == "again"}
    missing = [id_ for id_ in search.kept or () if id_ not in done]
    if not (search.kept and (missing or done)):
        return None
    if DEFAULT not in done:
        return Measure(DEFAULT, "again", 0, sizes.again, 1)
    if missing and not _default_is_due(search, "again"):
        return Measure(missing[0], "again", 0, sizes.again, 1)
    if missing or not _ends_with_default(search, "again"):
        return Measure(DEFAULT, "again", 0, sizes.again, 1)
    return None


def _default_is_due(search: Search, stage: Stage) -> bool:
    """After so many candidates that ran; what did not start took no time in which the machine could drift."""
    count = 0
    for visit in reversed(search.visits):
        if visit.stage == stage and visit.candidate == DEFAULT:
            return count >= BLOCK
        count += visit.stage == stage and not visit.problem and not visit.kept_from
    return True


def _ends_with_default(search: Search, stage: Stage) -> bool:
    own = [visit for visit in search.visits if visit.stage == stage and not visit.problem and not visit.kept_from]
    return not own or own[-1].candidate == DEFAULT


def finalists(search: Search, count: int) -> tuple[str, ...]:
    """The best that are better than the default, of those that nothing speaks against."""
    stage: Stage = "again" if search.of(DEFAULT, "again") else "screen"
    ranked = search.ranked(search.kept or search.entered, stage)
    better = [(search.candidate(id_), ratio) for id_, ratio in ranked if ratio > 1]
    return tuple(candidate.id for candidate, ratio in better if not _has_idle(candidate, ratio, better))[:count]


def _has_idle(candidate: Candidate, ratio: float, others: Sequence[tuple[Candidate, float]]) -> bool:
    """Whether some of its changes alone are as good: the rest brings nothing."""
    changes = set(candidate.changes)
    return any(
        set(other.changes) < changes and its_ratio >= ratio * (1 - SAME) for other, its_ratio in others if other.changes
    )


def _more(search: Search, sizes: Sizes, left_s: float, because: str) -> Action:
    """Nothing has won: what was left out for want of time enters, as far as there is time now."""
    left_out = [id_ for id_ in search.order if id_ not in search.entered]
    if not left_out:
        return Finish(because, complete=True)
    each_s = max(visit_s(search, sizes.screen), 1e-9)
    last_s = 2 * sizes.rounds * visit_s(search, sizes.final, sizes.runs)
    count = int((left_s - last_s) / (each_s * (1 + 1 / BLOCK)))
    if count < 1:
        return Finish("the budget is over", complete=False)
    entered = (*search.entered, *left_out[:count])
    return Enter(replace(sizes, enter=len(entered)), entered)


def _final(search: Search, sizes: Sizes, left_s: float) -> Action:
    chosen = finalists(search, sizes.finalists)
    if not chosen:
        return _more(search, sizes, left_s, "nothing that was tried beats the default")
    for round_ in range(sizes.rounds):
        turn: Sequence[str] = (DEFAULT, *chosen) if round_ % 2 == 0 else (*reversed(chosen), DEFAULT)
        for id_ in turn:
            visits = [visit for visit in search.of(id_, "final") if visit.round == round_]
            if not visits:
                return Measure(id_, "final", round_, sizes.final, sizes.runs)
    for id_ in sorted(chosen, key=lambda id_: -search.final_gain(id_)):
        if search.is_better(id_):
            return Finish("the winner is proved", complete=True) if search.of(id_, "proof") else Prove(id_)
    return _another_round(search, sizes, chosen, left_s) or _more(search, sizes, left_s, "all rounds are done")


def _another_round(search: Search, sizes: Sizes, chosen: Sequence[str], left_s: float) -> Enter | None:
    """Where a finalist seems better and the machine is too noisy to tell, as long as there is time."""
    round_s = (1 + len(chosen)) * visit_s(search, sizes.final, sizes.runs)
    seems_better = any(search.final_gain(id_) >= SEEMS for id_ in chosen if not search.problem(id_))
    if not seems_better or sizes.rounds >= MOST_ROUNDS or round_s > left_s:
        return None
    return Enter(replace(sizes, rounds=sizes.rounds + 1, looks=sizes.looks + 1), search.entered)
