"""What a request asks for, against what the server of the text grants: tokens, log-probabilities, images."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import calls_to, is_shown_to_fail
from moonpad.explain.documents.client_calls import ClientCall
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import since

_TOKENS: Final = re.compile(
    r"(?:[\"'](?:max_tokens|max_completion_tokens)\\?[\"'][ ]*:|\b(?:max_tokens|max_completion_tokens)[ ]*=)"
    r"[ ]*(?P<number>[0-9][0-9_]{3,9})(?![\w.*])"
)
_FEW_TOKENS: Final = re.compile(
    r"(?:[\"'](?:max_tokens|max_completion_tokens)\\?[\"'][ ]*:|\b(?:max_tokens|max_completion_tokens)[ ]*=)"
    r"[ ]*(?P<number>[1-9][0-9]{0,2})(?![\w.*])"
)
THINKS: Final = re.compile(
    r"kimi[-_]?k2(?:[._-][5-9](?![0-9])|-thinking)|kimi[-_]?k3|deepseek-r1|deepseek-v3\.2-speciale|glm-(?:4\.[5-7]|5)",
    re.IGNORECASE,
)
"""Models that think where a request does not say that they shall not."""
WITHOUT_THOUGHTS: Final = re.compile(r"(?<!-)thinking|reasoning_effort|/no_?think", re.IGNORECASE)
_DEFAULTS: Final = ("--default-chat-template-kwargs", "--chat-template", "--reasoning-config")
_SHORT: Final = 500
"""Tokens that thoughts about a plain question often take."""
_LOGPROBS: Final = re.compile(r"(?:[\"']top_logprobs\\?[\"'][ ]*:|\btop_logprobs[ ]*=)[ ]*(?P<number>[0-9]{1,6})\b")
_PLAIN_LOGPROBS: Final = re.compile(r"[\"']logprobs\\?[\"'][ ]*:[ ]*(?P<number>[0-9]{1,6})\b")
_CONTEXT: Final = ("--max-model-len", "--context-length")
_LIMIT: Final = "--max-logprobs"
_MOST: Final = 20
"""Log-probabilities of a token where the server is not told a number (vllm/config/model.py of 0.8.5 to 0.32.0)."""
_ROUNDS: Final = "--allow-auto-truncate"
_LATEST: Final = "99"
_CUTS_DOWN: Final = "0.27.1"
"""0.27.0 refuses such a request still, and 0.32.0 cuts it down (renderers/params.py)."""


def tokens_of_request(case: Case) -> Iterator[Remark]:
    """`max_tokens` as large as the context leaves no token for the prompt."""
    context, place = context_of(case)
    if context < 1 or case.base not in (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION):
        return
    if case.option(_ROUNDS) is not None or case.open_ended:
        return
    for call in calls_to(case):
        match = _TOKENS.search(call.text)
        number = int(match["number"].replace("_", "")) if match is not None else 0
        if (
            number < context
            or (number == context and _cuts_down(case))
            or is_shown_to_fail(case, call.line, _end(call))
        ):
            continue
        message = f"{case.script.where(call.line)}: the request wants {number:,} tokens beside its prompt, and the "
        message += f"context is {context:,}: it is refused with 400"
        yield _said("max_tokens", message, f"ask for fewer, or give {place} more")
        return


def thoughts_of_request(case: Case) -> Iterator[Remark]:
    """A few hundred `max_tokens` are spent by thoughts alone, and no answer is left."""
    if case.base not in (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION) or case.open_ended:
        return
    model = (case.first.model or "").rstrip("/").rpartition("/")[2]
    if THINKS.search(model) is None or case.option(*_DEFAULTS) is not None:
        return
    for call in calls_to(case):
        match = _FEW_TOKENS.search(call.text) if call.is_chat else None
        if match is None or int(match["number"]) > _SHORT or WITHOUT_THOUGHTS.search(call.text):
            continue
        message = f"{case.script.where(call.line)}: the thoughts of {shortened(model, 40)} count as tokens too, and "
        message += f"{match['number']} are often spent before the answer begins: finish_reason is length and content "
        message += "null, or cut-off thoughts where no parser takes them out"
        remedy = "ask for several thousand, or switch thinking off in the request where the model can"
        yield _said("max_tokens", message, remedy, Severity.NOTE, Code.SUBOPTIMAL)
        return


def logprobs_of_request(case: Case) -> Iterator[Remark]:
    """`top_logprobs: 50`, of which a server gives 20 where it is not told more."""
    if case.base != names.EXPERTS_BY_VARIABLE or case.open_ended:
        return
    text = case.text(_LIMIT).strip("'\"")
    if text and not text.isdigit():
        return
    most = int(text) if text else _MOST
    for call in calls_to(case):
        completion = call.path.rstrip("/").endswith("/v1/completions")
        match = (_PLAIN_LOGPROBS if completion else _LOGPROBS).search(call.text)
        if match is None or int(match["number"]) <= most or is_shown_to_fail(case, call.line, _end(call)):
            continue
        name = "logprobs" if completion else "top_logprobs"
        message = f"{case.script.where(call.line)}: {name} {match['number']} is more than the {most} that the server "
        message += f"gives{'' if text else ' by default'}: the request is refused with 400"
        yield _said(name, message, f"start it with {_LIMIT} {match['number']}, or ask for at most {most}")
        return


def _cuts_down(case: Case) -> bool:
    """Whether a request for exactly the context may be cut down to what the prompt leaves."""
    return case.base == names.EXPERTS_BY_VARIABLE and since(case.base_version or _LATEST, _CUTS_DOWN)


def context_of(case: Case) -> tuple[int, str]:
    """Of the server, and the option that sets it; 0 where it is not known."""
    place = case.option(*_CONTEXT)
    option = _CONTEXT[0] if case.base == names.EXPERTS_BY_VARIABLE else _CONTEXT[1]
    if place is not None:
        text = place.value.strip("'\"") if isinstance(place.value, str) else ""
        return (int(text) if text.isdigit() and len(text) < 9 and not unresolved(text) else 0), option
    architecture = case.checkpoint.architecture if case.checkpoint is not None else None
    return (architecture.max_context if architecture is not None else 0), option


def _end(call: ClientCall) -> int:
    return call.line + call.text.count("\n")


def _said(
    place: str, message: str, remedy: str, severity: Severity = Severity.WARNING, code: Code = Code.INVALID_VALUE
) -> Remark:
    return replace(make_remark(severity, code, place, message, remedy), command=None)
