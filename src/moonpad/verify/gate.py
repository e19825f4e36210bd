"""Whether a verdict is good enough, by the thresholds in a spec's [gate]. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from moonpad.values.errors import UsageError
from moonpad.verify.agent_loop import LoopResult
from moonpad.verify.probe import ApiProbe, Status
from moonpad.verify.runner import Report
from moonpad.verify.vendor import Score

NOTHING_JUDGED = "neither a tool call nor the reasoning could be judged, so nothing is proved"


@dataclass(frozen=True, slots=True)
class Gate:
    """Thresholds.

    must_pass: probes that may not be skipped either.
    may_fail: probes whose failure is reported and does not count.
    loop_calls: the least right calls before a loop drifts.
    schema_accuracy, trigger_similarity: the least scores of the vendor verifier, from 0 to 1.
    """

    must_pass: tuple[str, ...] = ()
    may_fail: tuple[str, ...] = ()
    loop_calls: int | None = None
    schema_accuracy: float | None = None
    trigger_similarity: float | None = None

    def check(self, probes: Sequence[ApiProbe]) -> None:
        """
        Raises:
            UsageError: a probe does not exist, or both must pass and may fail.
        """
        ids = [probe.id for probe in probes]
        for name in (*self.must_pass, *self.may_fail):
            if name not in ids:
                near = get_close_matches(name, ids, n=1)
                remedy = f'did you mean "{near[0]}"?' if near else "docs/verify.md lists the probes"
                raise UsageError(f"[gate] names the probe {name!r}, which does not exist", remedy=remedy)
        if both := sorted({*self.must_pass} & {*self.may_fail}):
            raise UsageError(f"[gate] has {both[0]} in must_pass and in may_fail", remedy="remove it from one of them")

    def of_report(self, report: Report) -> tuple[str, ...]:
        """Why the probes do not pass, a sentence each."""
        sentences = [NOTHING_JUDGED] if report.says_nothing else []
        for result in report.results:
            id_, outcome = result.probe.id, result.outcome
            if outcome.status is Status.FAIL and id_ not in self.may_fail:
                sentences.append(f"{id_} failed")
            elif outcome.status is Status.SKIP and id_ in self.must_pass:
                sentences.append(f"{id_} must pass, but was skipped: {outcome.because}")
        return tuple(sentences)

    def of_loop(self, result: LoopResult) -> tuple[str, ...]:
        """A loop that drifts passes if it drifts late enough; without a threshold it does not pass."""
        if self.loop_calls is None:
            return () if result.complete else (f"the loop made {result.made} of {result.calls} calls",)
        if result.made >= self.loop_calls:
            return ()
        return (f"the loop made {result.made} calls, loop_calls is {self.loop_calls}",)

    def of_score(self, score: Score) -> tuple[str, ...]:
        return tuple(self._of_score(score))

    def _of_score(self, score: Score) -> Iterator[str]:
        if score.failure_count:
            yield f"{score.failure_count} requests failed"
        if self.schema_accuracy is not None and (score.schema_accuracy or 0.0) < self.schema_accuracy:
            yield f"the schema accuracy is {score.schema_accuracy or 0.0:.3f}, below {self.schema_accuracy:g}"
        if self.trigger_similarity is None:
            return
        if not score.compared:
            yield "trigger_similarity compares with a reference, and none was given: --reference RESULTS.jsonl"
        elif (score.tool_call_f1 or 0.0) < self.trigger_similarity:
            yield f"the trigger similarity is {score.tool_call_f1 or 0.0:.3f}, below {self.trigger_similarity:g}"
