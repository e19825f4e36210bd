"""The figures of one evaluation, from its samples and scores. Pure.

An accuracy is lm-eval's: right answers among all answers, so a cut or an empty one is a wrong one. Both are counted
apart beside it, with the accuracy of the others. A question without an answer is in no accuracy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moonpad.evaluate.sample import Sample
from moonpad.evaluate.score import Score
from moonpad.stats.paired import Pairs
from moonpad.stats.percentiles import Distribution, describe
from moonpad.stats.proportion import Proportion


@dataclass(frozen=True, slots=True)
class FilterResult:
    """One way to take the answer from the text. `usable` is of the answers that are neither cut nor empty."""

    name: str
    all: Proportion
    usable: Proportion | None
    wrong_cut: int
    wrong_empty: int

    def as_json(self) -> dict[str, Any]:
        low, high = self.all.interval()
        return {
            "accuracy": self.all.value,
            "correct": self.all.correct,
            "answers": self.all.count,
            "standard_error": self.all.standard_error,
            "low": low,
            "high": high,
            "of_usable": None if self.usable is None else self.usable.value,
            "usable": None if self.usable is None else self.usable.count,
            "wrong_because_cut": self.wrong_cut,
            "wrong_because_empty": self.wrong_empty,
        }


@dataclass(frozen=True, slots=True)
class Floor:
    """The same questions asked twice at the same endpoint (A/A). `verdicts` changed, by filter; `texts` changed."""

    questions: int
    texts: int
    verdicts: Mapping[str, Pairs]

    def as_json(self) -> dict[str, Any]:
        filters = {}
        for name, pairs in self.verdicts.items():
            share = Proportion(pairs.discordant, pairs.count)
            low, high = share.interval()
            filters[name] = {"changed": pairs.discordant, "questions": pairs.count, "low": low, "high": high}
        return {"questions": self.questions, "texts_changed": self.texts, "verdicts": filters}


@dataclass(frozen=True, slots=True)
class EvalResult:
    """`planned` questions; the others are answers to them. `tokens`: of the answers, where the endpoint counts them."""

    planned: int
    answered: int
    failed: int
    cut: int
    empty: int
    filters: tuple[FilterResult, ...]
    tokens: Distribution | None
    prompt_tokens: int | None
    seconds: Distribution | None
    floor: Floor | None = None

    @property
    def missing(self) -> int:
        """Questions that were not asked yet."""
        return self.planned - self.answered - self.failed

    @property
    def cut_share(self) -> float:
        return self.cut / self.answered if self.answered else 0.0

    def filter(self, name: str) -> FilterResult | None:
        return next((each for each in self.filters if each.name == name), None)

    def as_json(self) -> dict[str, Any]:
        return {
            "questions": self.planned,
            "answered": self.answered,
            "failed": self.failed,
            "missing": self.missing,
            "cut": self.cut,
            "cut_share": self.cut_share,
            "empty": self.empty,
            "filters": {each.name: each.as_json() for each in self.filters},
            "completion_tokens": _distribution(self.tokens),
            "longest_prompt_tokens": self.prompt_tokens,
            "answer_seconds": _distribution(self.seconds),
            "floor": self.floor.as_json() if self.floor else None,
        }


def summarise(planned: int, samples: Sequence[Sample], scores: Iterable[Score]) -> EvalResult:
    """`samples` and `scores` of both rounds."""
    scores = list(scores)
    first = [sample for sample in samples if sample.round == 1]
    answered = [sample for sample in first if not sample.failed]
    by_id = {sample.doc_id: sample for sample in answered}
    tokens = [sample.completion_tokens for sample in answered if sample.completion_tokens is not None]
    prompts = [sample.prompt_tokens for sample in answered if sample.prompt_tokens is not None]
    names = dict.fromkeys(score.filter for score in scores)
    return EvalResult(
        planned=planned,
        answered=len(answered),
        failed=len(first) - len(answered),
        cut=sum(sample.cut for sample in answered),
        empty=sum(sample.empty for sample in answered),
        filters=tuple(each for name in names if (each := _filter(name, scores, by_id)) is not None),
        tokens=describe(map(float, tokens)),
        prompt_tokens=max(prompts, default=None),
        seconds=describe(sample.seconds for sample in answered),
        floor=_floor(samples, scores),
    )


def _filter(name: str, scores: Sequence[Score], samples: Mapping[int, Sample]) -> FilterResult | None:
    """None: nothing was scored by it."""
    rows = [score for score in scores if score.filter == name and score.round == 1 and score.doc_id in samples]
    if not rows:
        return None
    usable = [score for score in rows if samples[score.doc_id].usable]
    wrong = [samples[score.doc_id] for score in rows if not score.correct]
    return FilterResult(
        name=name,
        all=Proportion(sum(score.correct for score in rows), len(rows)),
        usable=Proportion(sum(score.correct for score in usable), len(usable)) if usable else None,
        wrong_cut=sum(sample.cut for sample in wrong),
        wrong_empty=sum(sample.empty and not sample.cut for sample in wrong),
    )


def _floor(samples: Sequence[Sample], scores: Sequence[Score]) -> Floor | None:
    first, again = (
        {sample.doc_id: sample for sample in samples if sample.round == number and not sample.failed}
        for number in (1, 2)
    )
    both = sorted(first.keys() & again.keys())
    if not both:
        return None
    verdicts = {}
    for name in dict.fromkeys(score.filter for score in scores):
        right = [
            {score.doc_id: score.correct for score in scores if score.filter == name and score.round == number}
            for number in (1, 2)
        ]
        judged = [doc_id for doc_id in both if doc_id in right[0] and doc_id in right[1]]
        if judged:
            verdicts[name] = Pairs.of((right[0][doc_id], right[1][doc_id]) for doc_id in judged)
    texts = sum(first[doc_id].content != again[doc_id].content for doc_id in both)
    return Floor(len(both), texts, verdicts)


def _distribution(values: Distribution | None) -> dict[str, float] | None:
    if values is None:
        return None
    shares = {f"p{p:g}": round(value, 3) for p, value in values.percentiles}
    return {"mean": round(values.mean, 3), **shares, "total": round(values.mean * values.count, 1)}
