"""Runs the probes over one endpoint, in order, and reports."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, ContactLost, UsageError
from moonpad.values.finding import Code
from moonpad.values.records import as_dict, replace
from moonpad.verify import remediation
from moonpad.verify.api import EXCHANGES, Api, Deadlines, Exchange, connect
from moonpad.verify.judged_model import facts_by_card, owner_of, subject_of, too_small
from moonpad.verify.own_text.comparable import is_greedy
from moonpad.verify.own_text.recording import AnswerRecording, RecordedText, recorded
from moonpad.verify.own_text.template import model_of
from moonpad.verify.own_text.verdict import settle
from moonpad.verify.own_text.witness import Witness
from moonpad.verify.probe import ApiProbe, Outcome, ProbeEnded, Status, failed, skipped
from moonpad.verify.probe_helpers import greedy
from moonpad.verify.probes import LONG_PROBES, PROBES

TOOL_CALLS: Final = ("tool_call", "tool_stream", "tool_several", "own_calls", "own_several")
REASONING: Final = ("reasoning", "reasoning_cut")
"""The probes of which one must be judged, so that a run without a failure is a pass."""
SHOWN: Final = 2
"""Exchanges shown for a failure: probes that compare ask twice."""


@dataclass(frozen=True, slots=True)
class Result:
    """`exchanges`: the last requests and answers of a failed probe. `engine`: the one that serves, "" if unknown."""

    probe: ApiProbe
    outcome: Outcome
    seconds: float
    exchanges: tuple[Exchange, ...] = ()
    engine: str = ""

    @property
    def remedies(self) -> dict[str, str]:
        """What to change, by engine, where the probe failed."""
        return remediation.remedies(self.probe, self.engine) if self.outcome.status is Status.FAIL else {}

    @property
    def known_issues(self) -> tuple[str, ...]:
        return remediation.known_issues(self.probe, self.engine) if self.outcome.status is Status.FAIL else ()

    def as_json(self) -> dict[str, object]:
        evidence: dict[str, object] = {}
        if self.outcome.status is Status.FAIL:
            evidence = {
                "expected": self.probe.proves,
                "matters": self.probe.matters,
                "mend": self.remedies,
                "known_issues": [remediation.issue_url(issue) for issue in self.known_issues],
                "exchanges": [as_dict(exchange) for exchange in self.exchanges],
            }
        return {
            "id": self.probe.id,
            "status": str(self.outcome.status),
            "because": self.outcome.because,
            "findings": [finding.as_json() for finding in self.outcome.findings],
            "seconds": round(self.seconds, 3),
            **evidence,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """`answered` is False where nothing answered at all. `own_texts`: what the model itself wrote, by the key of the
    request; `own_text_missing`: why that could not be asked, "" if it could."""

    endpoint: str
    model: str
    answered: bool
    results: tuple[Result, ...]
    runs: int = 1
    own_texts: Mapping[str, RecordedText] = field(default_factory=dict)
    own_text_missing: str = ""

    @property
    def judged(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.outcome.status is not Status.SKIP)

    @property
    def not_judged(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.outcome.status is Status.SKIP)

    def judges(self, *ids: str) -> bool:
        """Whether one of these probes was judged."""
        return any(result.probe.id in ids for result in self.judged)

    @property
    def says_nothing(self) -> bool:
        """Whether neither a tool call nor the reasoning could be judged, though both were to be: no pass."""
        asked = {result.probe.id for result in self.results}
        wanted = bool(asked.intersection(TOOL_CALLS)) and bool(asked.intersection(REASONING))
        return wanted and not self.judges(*TOOL_CALLS, *REASONING)

    @property
    def failed(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.outcome.status is Status.FAIL)

    def count(self, status: Status) -> int:
        return sum(result.outcome.status is status for result in self.results)

    def as_json(self) -> dict[str, object]:
        return {
            "endpoint": self.endpoint,
            "model": self.model,
            "runs": self.runs,
            "passed": self.count(Status.PASS),
            "failed": self.count(Status.FAIL),
            "skipped": self.count(Status.SKIP),
            "judged": len(self.judged),
            "judged_tool_call": self.judges(*TOOL_CALLS),
            "judged_reasoning": self.judges(*REASONING),
            "not_judged": [{"id": result.probe.id, "because": result.outcome.because} for result in self.not_judged],
            "own_text": {"texts": len(self.own_texts), "missing": self.own_text_missing},
            "probes": [result.as_json() for result in self.results],
        }


async def verify(
    endpoint: Endpoint,
    *,
    only: Sequence[str] = (),
    probes: Sequence[ApiProbe] = PROBES,
    deadlines: Deadlines | None = None,
    fail_fast: bool = False,
    recording_of: Callable[[str], AnswerRecording | None] = lambda model: None,
    on_start: Callable[[ApiProbe], None] = lambda probe: None,
    clock: Callable[[], float] = time.monotonic,
) -> Report:
    """Asks the endpoint the probes (those of `only`, where it is not empty).

    Raises:
        UsageError: an unknown id in `only`; no model was named and the endpoint lists several or none.
        ContactLost: no model was named, and the list of models does not come.
    """
    chosen = choose(only, probes)
    async with connect(endpoint, deadlines) as api:
        try:
            with suppress(CheckFailed):  # its probe says so
                await api.get_root("/health")
        except ContactLost as lost:
            return _unanswered(endpoint, chosen, lost)
        named, card = await subject_of(api)
        api = replace(api, endpoint=named, asked=[])
        engine = endpoint.engine or owner_of(card)
        apart = replace(api, exchanges=deque(maxlen=EXCHANGES), asked=None)
        witness = Witness(apart, card, facts_by_card(card), recording_of(model_of(card)))
        small = too_small(card)
        results: list[Result] = []
        skip_rest = ""
        for probe in chosen:
            on_start(probe)
            started_s = clock()
            api.exchanges.clear()
            outcome = skipped(skip_rest) if skip_rest else await _judge(api, witness, probe, small)
            failed_now = outcome.status is Status.FAIL
            exchanges = tuple(api.exchanges)[-SHOWN:] if failed_now else ()
            results.append(Result(probe, outcome, clock() - started_s, exchanges, engine))
            if failed_now and fail_fast:
                skip_rest = f"not asked: {probe.id} failed, and --fail-fast was given"
            elif _lost_contact(outcome) and probe is not chosen[-1] and not await _answers(api):
                skip_rest = f"the endpoint stopped answering at the probe {probe.id}"
        texts = {key: recorded(body, own) for key, (body, own) in witness.known.items() if is_greedy(body)}
        return Report(
            named.base_url, named.model, True, tuple(results), own_texts=texts, own_text_missing=witness.unavailable
        )


def merged(reports: Sequence[Report]) -> Report:
    """Several runs as one: a probe that failed in any run has failed; it is skipped if it neither failed nor passed."""
    rows = zip(*(report.results for report in reports), strict=True)
    results = tuple(_worst(row) for row in rows)
    answered = all(report.answered for report in reports)
    return replace(reports[-1], answered=answered, results=results, runs=len(reports))


def _worst(row: Sequence[Result]) -> Result:
    order = (Status.FAIL, Status.PASS, Status.SKIP)
    worst = min(row, key=lambda result: order.index(result.outcome.status))
    times = sum(result.outcome.status is worst.outcome.status for result in row)
    because = worst.outcome.because if times == len(row) else f"{times} of {len(row)} times: {worst.outcome.because}"
    seconds = sum(result.seconds for result in row)
    return replace(worst, seconds=seconds, outcome=replace(worst.outcome, because=because))


def choose(only: Sequence[str], probes: Sequence[ApiProbe] = PROBES) -> tuple[ApiProbe, ...]:
    """Those probes, or the ones that are named, long ones too, in their own order."""
    if not only:
        return tuple(probes)
    known = (*probes, *LONG_PROBES)
    ids = [probe.id for probe in known]
    for wanted in only:
        if wanted not in ids:
            near = get_close_matches(wanted, ids, n=1)
            hint = f"did you mean {near[0]}?" if near else f"the probes are: {', '.join(ids)}"
            raise UsageError(f"there is no probe {wanted!r}", remedy=hint)
    return tuple(probe for probe in known if probe.id in only)


async def _judge(api: Api, witness: Witness, probe: ApiProbe, small: str) -> Outcome:
    """By the probe, then by the model's own text: what it wrote itself after the prompts that the probe asked."""
    if small and probe.needs_able_model:
        return skipped(f"{small}: this probe needs an able model")
    asked = api.asked if api.asked is not None else []
    asked.clear()
    outcome = await _run(api, probe)
    if _lost_contact(outcome):
        return outcome
    return settle(outcome, await witness.examine(tuple(asked)), small)


async def _run(api: Api, probe: ApiProbe) -> Outcome:
    try:
        return await probe.run(api)
    except ProbeEnded as ended:
        return ended.outcome
    except ContactLost as lost:
        return failed(Code.UNREACHABLE, api.endpoint.base_url, lost.message, lost.remedy)
    except CheckFailed as wrong:
        return failed(Code.WRONG_ANSWER, api.endpoint.base_url, wrong.message, wrong.remedy)
    except Exception as error:  # noqa: BLE001 - an answer that a probe did not foresee costs its probe, not the verdict
        message = f"the answer could not be judged: {type(error).__name__}: {error}"
        return failed(Code.WRONG_ANSWER, api.endpoint.base_url, message, f"report it: moonpad verify --only {probe.id}")


def _lost_contact(outcome: Outcome) -> bool:
    return any(finding.code is Code.UNREACHABLE for finding in outcome.findings)


async def _answers(api: Api) -> bool:
    """Whether a request for one token still gets any answer."""
    try:
        with suppress(CheckFailed):  # an answer, though a wrong one
            await api.chat(greedy("Hello!", max_tokens=1), answer_s=api.deadlines.canary_s)
    except ContactLost:
        return False
    return True


def _unanswered(endpoint: Endpoint, chosen: Sequence[ApiProbe], lost: ContactLost) -> Report:
    def outcome(probe: ApiProbe) -> Outcome:
        if probe.id == "health":
            return failed(Code.UNREACHABLE, endpoint.base_url, lost.message, lost.remedy)
        return skipped("nothing answers at the address")

    results = tuple(Result(probe, outcome(probe), 0.0) for probe in chosen)
    return Report(endpoint.base_url, endpoint.model, False, results)
