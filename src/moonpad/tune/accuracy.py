"""The accuracy of a candidate beside the default's: the same questions, compared in pairs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from moonpad.evaluate.compare import EvalComparison
from moonpad.values.endpoint import Endpoint


class Accuracy(Protocol):
    """What asks and scores; the questions are those of `moonpad eval`."""

    @property
    def words(self) -> str:
        """What is asked, in a few words: another task is another tune."""

    def ask(self, endpoint: Endpoint, folder: Path) -> None:
        """Asks what has no answer there yet. Raises MoonpadError where it cannot be asked or scored."""

    def compare(self, default: Path, candidate: Path) -> EvalComparison: ...


@dataclass(frozen=True, slots=True)
class AccuracyVerdict:
    """`worse`: the paired test shows, by one of its filters, that the candidate is less accurate."""

    words: str
    worse: bool


def verdict_of(comparison: EvalComparison) -> AccuracyVerdict:
    """Worse if any filter shows a loss of accuracy. A gain in accuracy does not make up for it."""
    worse = [each for each in comparison.filters if each.difference.shown and each.difference.value < 0]
    shown = worse[0] if worse else comparison.filters[0]
    first, second = shown.pairs.first.value, shown.pairs.second.value
    figures = f"{first:.1%} of {shown.pairs.count:,} questions right before, {second:.1%} with it"
    return AccuracyVerdict(f"{shown.words.replace('B is', 'it is', 1)} ({shown.name}: {figures})", bool(worse))
