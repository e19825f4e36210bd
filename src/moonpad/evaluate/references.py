"""Published accuracies, compared only where all that matters is the same. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from moonpad.catalog.evaluations import Reference, references
from moonpad.catalog.models import find_model
from moonpad.evaluate.phrases import verdict_words
from moonpad.evaluate.result import EvalResult
from moonpad.evaluate.setup import Setup
from moonpad.stats.proportion import Difference, Proportion, detectable_unpaired, unpaired


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a reference must share: `names` by which the endpoint's model is known, the data, lm-eval's task version."""

    setup: Setup
    names: tuple[str, ...]
    published_data: bool
    task_version: float | int | str | None


@dataclass(frozen=True, slots=True)
class Against:
    """This evaluation against a published one, by one filter."""

    reference: Reference
    filter: str
    value: float
    error: float
    difference: Difference
    detectable: float

    @property
    def words(self) -> str:
        return verdict_words(self.difference, self.detectable, "this endpoint")

    def as_json(self) -> dict[str, Any]:
        difference = self.difference
        return {
            "reference": self.reference.id,
            "where": self.reference.where,
            "filter": self.filter,
            "value": self.value,
            "standard_error": self.error,
            "difference": difference.value,
            "low": difference.low,
            "high": difference.high,
            "z": difference.z,
            "p_value": difference.p_value,
            "detectable": self.detectable,
            "verdict": self.words,
        }


def compared(result: EvalResult, conditions: Conditions) -> tuple[list[Against], str]:
    """The comparisons; without any, why there is none."""
    same = [each for each in references().values() if each.protocol == conditions.setup.protocol.name]
    if not same:
        return [], f"no result was published for the protocol {conditions.setup.protocol.name}"
    if why := _why_not(result, conditions):
        return [], f"not compared with published results: {why}"
    mine = [each for each in same if _is_model(each.model, conditions.names)]
    if not mine:
        models = ", ".join(sorted({each.model for each in same}))
        return [], f"not compared with published results: they are of {models}, not of {conditions.names[0]}"
    rows = []
    for reference in mine:
        for name, score in reference.filters.items():
            ours = result.filter(name)
            if ours is None:
                continue
            theirs = Proportion(score.correct, reference.questions)
            detectable = detectable_unpaired((ours.all.value + theirs.value) / 2, reference.questions)
            rows.append(Against(reference, name, score.value, score.error, unpaired(theirs, ours.all), detectable))
    return rows, ""


def _why_not(result: EvalResult, conditions: Conditions) -> str:
    wanted = next(iter(references().values())).questions
    if conditions.setup.changed:
        return f"the protocol was changed ({'; '.join(conditions.setup.changed)})"
    if not conditions.published_data:
        return "the questions are not the published GSM8K"
    if result.answered != wanted:
        return f"{result.answered:,} of {wanted:,} questions have an answer"
    if str(conditions.task_version).partition(".")[0] != "3":
        return f"lm-eval's task has version {conditions.task_version}, the published results version 3"
    return ""


def _is_model(reference: str, names: tuple[str, ...]) -> bool:
    """By the catalogue, where a name is known there, else by the last part of the name."""
    wanted = find_model(reference)
    for name in names:
        known = find_model(name) if name else None
        if wanted is not None and known is not None and known.id == wanted.id:
            return True
        if name.rstrip("/").rpartition("/")[2].casefold() == reference.rpartition("/")[2].casefold():
            return True
    return False
