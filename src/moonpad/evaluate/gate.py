"""Whether an accuracy is good enough, by the thresholds in a spec's [gate]. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from moonpad.evaluate.compare import EvalComparison
from moonpad.evaluate.phrases import points
from moonpad.evaluate.result import EvalResult


@dataclass(frozen=True, slots=True)
class EvalGate:
    """Shares from 0 to 1; None: not asked for.

    accuracy: the least of each filter's accuracy. cut_share: the largest share of cut answers.
    accuracy_drop: with --against, how much less accurate the endpoint may be: the interval of the paired difference
    must not reach below it.
    """

    accuracy: float | None = None
    cut_share: float | None = None
    accuracy_drop: float | None = None

    def of(self, result: EvalResult, comparison: EvalComparison | None) -> tuple[str, ...]:
        """Why the gate is not passed, a sentence each."""
        return tuple(self._of(result, comparison))

    def _of(self, result: EvalResult, comparison: EvalComparison | None) -> Iterator[str]:
        if result.failed or result.missing:
            yield f"{result.failed + result.missing} of {result.planned} questions have no answer"
        if not result.filters:
            yield "nothing was scored"
        for each in result.filters:
            if self.accuracy is not None and each.all.value < self.accuracy:
                low, high = each.all.interval()
                figure = f"{each.all.value:.4f} (95 %: {low:.4f} to {high:.4f})"
                yield f"the accuracy by {each.name} is {figure}, below {self.accuracy:g}"
        if self.cut_share is not None and result.cut_share > self.cut_share:
            yield f"{result.cut_share:.1%} of the answers were cut, more than {self.cut_share:.1%}"
        if comparison is not None:
            yield from self._drop(comparison)
        elif self.accuracy_drop is not None:
            yield "accuracy_drop compares with an earlier evaluation, and none was given: --against EVAL"

    def _drop(self, comparison: EvalComparison) -> Iterator[str]:
        for each in comparison.filters:
            difference = each.difference
            if self.accuracy_drop is None:
                if difference.shown and difference.value < 0:
                    yield f"by {each.name} {each.words}"
            elif difference.low < -self.accuracy_drop:
                low, allowed = points(difference.low), points(-self.accuracy_drop)
                yield f"by {each.name} the difference may be as low as {low} points, and accuracy_drop allows {allowed}"
