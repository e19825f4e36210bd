"""What a search found: the winner with its standing, what each knob brought, what was left out and why. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from moonpad.catalog.knobs import knobs
from moonpad.stats.bootstrap import Ratio
from moonpad.tune.candidate import DEFAULT, LAYOUT, Candidate
from moonpad.tune.halving import finalists
from moonpad.tune.search import Search
from moonpad.tune.visit import STAGES, Stage

Standing = Literal["confirmed", "not confirmed", "the default is best"]
MOST_TOLD: Final = 20
"""A ratio above it is told as that: the default keeps the limits for next to nothing."""
STAGE_WORDS = {
    "screen": "screened once",
    "again": "measured again",
    "final": "measured against the default",
    "proof": "",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One candidate that was measured, or left out. `ratio` is its worth over the default's, in `stage`; `because`: why
    it is out, "" where it is not."""

    candidate: Candidate
    stage: Stage | None
    ratio: Ratio | None
    worth: float | None
    predicted: float | None
    because: str
    visits: int
    figures: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.candidate.id,
            "changes": self.candidate.as_json(),
            "stage": self.stage,
            "ratio": _ratio_json(self.ratio),
            "worth": self.worth,
            "predicted_ratio": self.predicted,
            "because": self.because,
            "visits": self.visits,
            "figures": self.figures,
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """`winner` None: the default stays. `best`: of what was measured without a problem, confirmed or not. `rows`: the
    measured ones, best first; `left_out`: those that never started, with the planner's reason or for want of time.
    """

    standing: Standing
    winner: Candidate | None
    best: Row | None
    default_worth: float | None
    default_figures: dict[str, float]
    unit: str
    rows: tuple[Row, ...]
    left_out: tuple[tuple[Candidate, str], ...]
    sentences: tuple[str, ...]
    measurements: int
    spent_s: float
    ended: str

    def as_json(self) -> dict[str, Any]:
        return {
            "standing": self.standing,
            "winner": None if self.winner is None else {"id": self.winner.id, "changes": self.winner.as_json()},
            "best": None if self.best is None else self.best.as_json(),
            "default": {"worth": self.default_worth, "figures": self.default_figures},
            "unit": self.unit,
            "reason": list(self.sentences),
            "measured": [row.as_json() for row in self.rows],
            "left_out": [{"id": candidate.id, "because": because} for candidate, because in self.left_out],
            "measurements": self.measurements,
            "spent_s": round(self.spent_s, 3),
            "ended": self.ended,
        }


def _ratio_json(ratio: Ratio | None) -> dict[str, float | None] | None:
    return None if ratio is None else {"value": ratio.value, "low": ratio.low, "high": ratio.high}


def outcome_of(search: Search, unit: str, ended: str = "") -> Outcome:
    """Whatever was measured so far: a budget may end at any point."""
    measured = {visit.candidate for visit in search.visits} - {DEFAULT}
    rows = sorted((_row(search, id_) for id_ in measured), key=_place)
    able = [row for row in rows if not row.because]
    winner = next((row for row in able if is_confirmed(search, row.candidate.id)), None)
    best = winner or (able[0] if able else None)
    if winner is not None:
        standing: Standing = "confirmed"
    elif _nothing_better(search, best):
        standing = "the default is best"
    else:
        standing = "not confirmed"
    sentences = tuple(_sentences(search, standing, best, unit, ended or search.ended))
    return Outcome(
        standing,
        winner.candidate if winner else None,
        best,
        _default_worth(search),
        next((dict(one.figures) for one in reversed(search.visits) if one.candidate == DEFAULT and one.figures), {}),
        unit,
        tuple(rows),
        tuple(_left_out(search, measured)),
        sentences,
        sum(not visit.kept_from for visit in search.visits),
        search.spent_s,
        ended or search.ended,
    )


def is_confirmed(search: Search, id_: str) -> bool:
    """It is better in every round, and answers as the default does."""
    return search.is_better(id_) and any(visit.answers == () for visit in search.of(id_, "proof"))


def _nothing_better(search: Search, best: Row | None) -> bool:
    """The search went to its end, and what is best is not better."""
    if search.sizes is None or not search.ended or "budget" in search.ended:
        return False
    return best is None or best.stage == "final" or not finalists(search, search.sizes.finalists)


def _row(search: Search, id_: str) -> Row:
    found = search.best_ratio(id_)
    visits = [visit for visit in search.visits if visit.candidate == id_ and visit.stage != "proof"]
    worths = [visit.worth for visit in visits if visit.worth is not None]
    last = next((visit for visit in reversed(visits) if visit.worth is not None), visits[-1])
    judged = search.judged[id_]
    return Row(
        judged.candidate,
        found[0] if found else last.stage,
        found[1] if found else None,
        worths[-1] if worths else None,
        judged.predicted,
        search.problem(id_),
        sum(not visit.kept_from for visit in visits),
        dict(last.figures),
    )


def _place(row: Row) -> tuple[bool, int, float, str]:
    """Those without a problem first; a later stage says more than an earlier one."""
    stage = -STAGES.index(row.stage) if row.stage else 1
    return bool(row.because), stage, -(row.ratio.value if row.ratio else row.worth or 0.0), row.candidate.id


def _default_worth(search: Search) -> float | None:
    for stage in reversed(STAGES):
        if worths := [visit.worth for visit in search.of(DEFAULT, stage) if visit.worth is not None]:
            return sum(worths) / len(worths)
    return None


def _left_out(search: Search, measured: set[str]) -> Iterator[tuple[Candidate, str]]:
    for id_, judged in search.judged.items():
        if judged.refused:
            yield judged.candidate, judged.refused
        elif id_ not in measured:
            yield judged.candidate, "the budget had no room for it"


# --- what each knob brought ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KnobEffect:
    """The best value of one knob by itself, and its ratio to the default."""

    knob: str
    title: str
    why: str
    value: str
    ratio: Ratio
    stage: Stage
    in_winner: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "knob": self.knob,
            "title": self.title,
            "why": self.why,
            "change": self.value,
            "ratio": _ratio_json(self.ratio),
            "stage": self.stage,
            "in_winner": self.in_winner,
        }


def effects_of(outcome: Outcome) -> tuple[KnobEffect, ...]:
    """Of every knob that was measured alone, the most helpful first."""
    best: dict[str, KnobEffect] = {}
    chosen = {change.knob: change.value for change in outcome.winner.changes} if outcome.winner else {}
    for row in outcome.rows:
        if len(row.candidate.changes) != 1 or row.ratio is None or row.stage is None:
            continue
        change = row.candidate.changes[0]
        title, why = words_of(change.knob)
        mine = chosen.get(change.knob) == change.value and change.knob in chosen
        effect = KnobEffect(change.knob, title, why, change.words, row.ratio, row.stage, mine)
        before = best.get(change.knob)
        if before is None or (mine, effect.ratio.value) > (before.in_winner, before.ratio.value):
            best[change.knob] = effect
    return tuple(sorted(best.values(), key=lambda effect: -effect.ratio.value))


def words_of(knob: str) -> tuple[str, str]:
    """(title, why) of a knob."""
    if knob == LAYOUT:
        return "layout", "another way to spread the model over the devices"
    known = knobs().get(knob)
    return (known.title, known.why) if known else (knob, "")


def ratio_words(ratio: Ratio | None) -> str:
    """`× 1.42 (1.31 to 1.54)`. Of a default that keeps the limits for nearly no request the ratio says little."""
    if ratio is None:
        return "no ratio"
    if ratio.value > MOST_TOLD:
        return f"more than × {MOST_TOLD}"
    if ratio.low is None or ratio.high is None:
        return f"× {ratio.value:.2f}"
    return f"× {ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def _sentences(search: Search, standing: Standing, best: Row | None, unit: str, ended: str) -> Iterator[str]:
    """What is so, and why; and how accurate the winner is, where questions were asked."""
    default = _default_worth(search)
    base = "" if default is None else f" of the default's {default:.4g} {unit}"
    if standing == "confirmed" and best is not None:
        ratio = f"{ratio_words(best.ratio)}{base}" if best.ratio else f"{best.worth:.4g} {unit}, the default none"
        side = f"side by side over {_rounds(search)}"
        yield f"{best.candidate.id} gives {ratio}, {side}, and answers as the default does."
        reasons = [words_of(change.knob)[1] for change in best.candidate.changes]
        yield f"Why: {'; '.join(filter(None, reasons))}."
        if accuracy := next((one.accuracy for one in search.of(best.candidate.id, "proof") if one.accuracy), ""):
            yield f"Accuracy: {accuracy}."
    elif standing == "the default is best":
        yield f"The default stays: {default or 0:.4g} {unit}, and nothing that was tried is surely better."
        if best is None or best.ratio is None:
            yield "No other setting ran to its end."
        else:
            stage = STAGE_WORDS[best.stage or "screen"]
            yield f"The nearest is {best.candidate.id} with {ratio_words(best.ratio)}, {stage}."
    else:
        yield f"Nothing is confirmed: {ended or 'the search is not over'}."
        if best is not None and best.ratio is not None:
            stage = STAGE_WORDS[best.stage or "screen"]
            yield f"The best so far is {best.candidate.id} with {ratio_words(best.ratio)}, {stage}."


def _rounds(search: Search) -> str:
    sizes = search.sizes
    return f"{sizes.rounds} rounds of {sizes.runs} runs" if sizes else "no round"
