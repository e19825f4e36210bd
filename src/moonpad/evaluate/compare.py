"""Two evaluations, question by question. Pure.

Only questions that were asked with the same words, limits and settings are compared, whatever the protocol is called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from moonpad.evaluate.phrases import verdict_words
from moonpad.evaluate.question import Question
from moonpad.evaluate.sample import Sample
from moonpad.evaluate.saved import SavedEval
from moonpad.stats.paired import Pairs, detectable_paired, paired
from moonpad.stats.proportion import Difference
from moonpad.values.errors import UsageError


@dataclass(frozen=True, slots=True)
class ComparedFilter:
    """`detectable`: the smallest difference that so many pairs show, with so many verdicts that change. `floor`: the
    share of verdicts that change when an endpoint is asked twice, the larger of both sides; None if not measured."""

    name: str
    pairs: Pairs
    difference: Difference
    detectable: float | None
    floor: float | None

    @property
    def words(self) -> str:
        return verdict_words(self.difference, self.detectable, "B")

    def as_json(self) -> dict[str, Any]:
        pairs, difference = self.pairs, self.difference
        return {
            "filter": self.name,
            "questions": pairs.count,
            "accuracy_a": pairs.first.value,
            "accuracy_b": pairs.second.value,
            "only_a": pairs.only_first,
            "only_b": pairs.only_second,
            "both": pairs.both,
            "neither": pairs.neither,
            "difference": difference.value,
            "low": difference.low,
            "high": difference.high,
            "p_value": difference.p_value,
            "detectable": self.detectable,
            "floor": self.floor,
            "verdict": self.words,
        }


@dataclass(frozen=True, slots=True)
class Changed:
    """A question whose verdict changed, with both answers."""

    question: Question
    filter: str
    extracted: tuple[str, str]
    right: tuple[bool, bool]
    samples: tuple[Sample, Sample]


@dataclass(frozen=True, slots=True)
class EvalComparison:
    """`left_out`: questions that only one side answered."""

    first: SavedEval
    second: SavedEval
    filters: tuple[ComparedFilter, ...]
    changed: tuple[Changed, ...]
    left_out: int

    def as_json(self) -> dict[str, Any]:
        return {
            "a": str(self.first.folder),
            "b": str(self.second.folder),
            "filters": [each.as_json() for each in self.filters],
            "changed": [
                {
                    "doc_id": each.question.doc_id,
                    "filter": each.filter,
                    "right_in": "a" if each.right[0] else "b",
                    "extracted": list(each.extracted),
                }
                for each in self.changed
            ],
            "left_out": self.left_out,
        }


def compare(first: SavedEval, second: SavedEval) -> EvalComparison:
    """
    Raises:
        UsageError: they asked different questions, or the same in another way.
    """
    pairs = _common(first, second)
    answers = [{each.doc_id: each for each in side.samples if each.round == 1} for side in (first, second)]
    names = [name for name in dict.fromkeys(score.filter for score in first.scores) if name in _filters(second)]
    filters, changed, judged_ids = [], [], set()
    for name in names:
        rows = [
            {each.doc_id: each for each in side.scores if each.filter == name and each.round == 1}
            for side in (first, second)
        ]
        there = [scored.keys() & given.keys() for scored, given in zip(rows, answers, strict=True)]
        judged = [(a, b) for a, b in pairs if a.doc_id in there[0] and b.doc_id in there[1]]
        if not judged:
            continue
        judged_ids |= {a.doc_id for a, _ in judged}
        counts = Pairs.of((rows[0][a.doc_id].correct, rows[1][b.doc_id].correct) for a, b in judged)
        detectable = detectable_paired(counts.discordant / counts.count, counts.count)
        filters.append(ComparedFilter(name, counts, paired(counts), detectable, _floor((first, second), name)))
        for a, b in judged:
            scores = rows[0][a.doc_id], rows[1][b.doc_id]
            if scores[0].correct != scores[1].correct:
                extracted = scores[0].extracted, scores[1].extracted
                right = scores[0].correct, scores[1].correct
                changed.append(Changed(a, name, extracted, right, (answers[0][a.doc_id], answers[1][b.doc_id])))
    if not filters:
        raise UsageError("no question has an answer in both", remedy="moonpad eval --resume completes them")
    every = max(len(first.questions), len(second.questions))
    return EvalComparison(first, second, tuple(filters), tuple(changed), every - len(judged_ids))


def _common(first: SavedEval, second: SavedEval) -> list[tuple[Question, Question]]:
    """The questions of both, asked in the same way."""
    others = _by_occurrence(second)
    same = [(question, others[key]) for key, question in _by_occurrence(first).items() if key in others]
    if not same:
        raise UsageError("the two evaluations have no question in common", remedy="compare two of the same task")
    alike = [(a, b) for a, b in same if a.asked == b.asked]
    if not alike:
        names = first.setup.protocol.name, second.setup.protocol.name
        how = f"by {names[0]} and by {names[1]}" if names[0] != names[1] else "with other limits or settings"
        raise UsageError(
            f"the two evaluations asked the same questions in different ways: {how}",
            remedy="accuracies of two protocols are not compared; evaluate both with one",
        )
    return alike


def _by_occurrence(side: SavedEval) -> dict[tuple[str, int], Question]:
    """A file may hold a question twice: the second is compared with the second."""
    seen: Counter[str] = Counter()
    keyed = {}
    for question in sorted(side.questions, key=lambda question: question.doc_id):
        keyed[question.doc_hash, seen[question.doc_hash]] = question
        seen[question.doc_hash] += 1
    return keyed


def _filters(side: SavedEval) -> set[str]:
    return {score.filter for score in side.scores}


def _floor(sides: Iterable[SavedEval], name: str) -> float | None:
    shares = []
    for side in sides:
        floor = side.result.floor
        if floor and name in floor.verdicts:
            shares.append(floor.verdicts[name].discordant / floor.verdicts[name].count)
    return max(shares, default=None)
