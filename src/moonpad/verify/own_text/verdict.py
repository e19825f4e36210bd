"""Whose fault it is: a probe's outcome, and what the model's own text says of the answers that it got. Pure."""

from __future__ import annotations

from typing import Final

from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace
from moonpad.verify.own_text.changes import Change, Examination
from moonpad.verify.probe import Outcome, Status, failed, passed, skipped

REMEDY: Final = (
    "the model wrote it right: look at the parsers of the engine (--tool-call-parser, --reasoning-parser) and at every "
    "gateway and proxy on the way; ask the engine directly to tell which"
)
PROMPT: Final = "use the checkpoint's own chat template, and let no gateway drop or change a part of the conversation"
NUMBERS: Final = "moonpad verify --numerics says whether the engine computes what it should; then look at the weights"
MODEL: Final = "the model's own text is the same: it is the model (weights, quantization, prompt), and not the server"
NOT_FREE: Final = "the request asks for more than the model's own text"
KNOWN_REMEDY: Final = "ask for whole answers in conversations, or move what stands behind <think> into the reasoning"
MOST_CHANGES: Final = 3


def settle(outcome: Outcome, examination: Examination, small: str) -> Outcome:
    """`small`: why the model is too small to be judged by its answers, "" if it is not."""
    if outcome.unparsed:
        own = tuple(change for change in examination.changes if not change.part.startswith("reasoning"))
        examination = replace(examination, changes=own)
    if examination.changes:
        return _changed(outcome, examination)
    outcome = _with_known(outcome, examination)
    unknown = "; ".join(examination.reasons)
    poor = outcome.status is Status.FAIL and outcome.model_may_be_why
    if poor and examination.compared and not examination.reasons:
        return skipped(f"{small}, and {MODEL}: {outcome.because}") if small else _noted(outcome, MODEL)
    if poor:
        untold = f"server and model could not be told apart: {unknown or NOT_FREE}"
        return skipped(f"{small}, and {untold}: {outcome.because}") if small else _noted(outcome, untold)
    if outcome.by_own_text and outcome.status is Status.PASS:
        if not examination.compared:
            return skipped(f"server and model could not be told apart: {unknown or 'nothing could be compared'}")
        beside = f"; others could not be compared: {unknown}" if unknown else ""
        text = f"{outcome.because}; {examination.compared} answers are the model's own text{beside}"
        return passed(text, *outcome.findings)
    return outcome


def _with_known(outcome: Outcome, examination: Examination) -> Outcome:
    """With a warning for each change that the engine itself makes, whatever the deployment."""
    warnings = (
        Finding(Severity.WARNING, Code.REASONING_LOST, "the stream", text, KNOWN_REMEDY) for text in examination.known
    )
    return replace(outcome, findings=(*outcome.findings, *warnings))


def _changed(outcome: Outcome, examination: Examination) -> Outcome:
    """It is the server, with both texts. What the probe itself found stays beside it, if it is not the model's."""
    first = examination.changes[0]
    verdict = failed(_code(first), first.where, f"the server changed the answer. {first.text}", _remedy(first))
    findings = tuple(
        Finding(Severity.ERROR, _code(change), change.where, change.text, _remedy(change))
        for change in examination.changes[1:MOST_CHANGES]
    )
    if outcome.status is Status.FAIL and not outcome.model_may_be_why:
        return replace(outcome, findings=(*outcome.findings, *verdict.findings, *findings))
    return replace(verdict, findings=(*verdict.findings, *findings))


def _code(change: Change) -> Code:
    if change.streamed:
        return Code.STREAM_BROKEN
    if " call" in f" {change.part}":
        return Code.TOOL_CALL_LOST
    return Code.REASONING_LOST if change.part.startswith("reasoning") else Code.WRONG_ANSWER


def _remedy(change: Change) -> str:
    return {"the prompt": PROMPT, "recording": NUMBERS}.get(change.part, REMEDY)


def _noted(outcome: Outcome, note: str) -> Outcome:
    findings = tuple(replace(finding, message=f"{finding.message} ({note})") for finding in outcome.findings)
    return replace(outcome, because=f"{outcome.because} ({note})", findings=findings, model_may_be_why=False)
