"""Bodies of requests that a server refuses or reads otherwise than they are meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import calls_to, is_shown_to_fail
from moonpad.explain.documents.client_calls import ClientCall
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_BODY: Final = re.compile(r"(?:^|\s)(?:-d|--data(?:-raw|-binary|-ascii)?)(?:[ =]|(?=['\"@$]))")
_LEFT_OUT: Final = re.compile(
    r"(?:-d|--data(?:-raw|-binary|-ascii)?)[ =]*[\"']?\{?[ ]?(?:\.\.\.|…)[ ]?\}?[\"']?(?:\s|$)"
)
"""Of a request whose body is not written out, other parts may be left out too."""
_TYPE: Final = re.compile(
    r"content-type|--json\b|-H[ ]*[\"']?(?:\$|@)|\$\{?\w*HEADERS?\b|-K\b|--config\b", re.IGNORECASE
)
_PATHS: Final = ("/v1/chat/completions", "/v1/completions")
_KEPT: Final = re.compile(r"[\"']model[\"']\s*:\s*\"(?P<name>\$\{?[A-Za-z_]\w*\}?)\"")
_SINGLE: Final = re.compile(
    r"(?:^|\s)(?:-d|--data(?:-raw|-binary)?|--json)[ =]*'(?P<body>[^']*)'(?![\"'$\w])", re.DOTALL
)
_QUOTED_SINGLY: Final = re.compile(r"(?:^|\s)(?:-d|--data(?:-raw|-binary)?|--json)[ =]*\"\s*\{\s*'\w{1,40}'\s*:")
_TEXT: Final = re.compile(r"[\"']messages\\?[\"']\s*:\s*\\?\"(?!\$)")
_OPTIONS: Final = re.compile(r"[\"']stream_options\\?[\"']\s*:\s*\{")
_STREAM: Final = re.compile(r"[\"']stream\\?[\"']\s*:\s*(?:true|\$|\")|\bstream\s*=\s*(?!False)", re.IGNORECASE)
_TOP: Final = re.compile(r"(?:[\"']top_logprobs\\?[\"']\s*:|\btop_logprobs\s*=)\s*[1-9]")
_LOGPROBS: Final = re.compile(r"[\"']logprobs\\?[\"']\s*:|\blogprobs\s*=")
_TOP_P: Final = re.compile(
    r"(?:[\"']top_p\\?[\"']\s*:|\btop_p\s*=)\s*(?:0(?:\.0+)?(?![.\d])|[1-9]\d*\.?[1-9]\d*|[2-9](?![.\d]))"
)
_EXTRA: Final = re.compile(r"[\"']extra_body\\?[\"']\s*:")
_SWITCH: Final = re.compile(
    r"[\"']thinking\\?[\"']\s*:\s*\{\s*\\?[\"']type\\?[\"']\s*:\s*(?:\\?[\"'](?P<value>\w{1,20}))?"
)
_FORMAT: Final = re.compile(
    r"response_format\\?[\"']?\s*[:=]\s*\{\s*\\?[\"']type\\?[\"']\s*:\s*\\?[\"'](?P<type>[\w-]{1,30})\\?[\"']"
)
_OF_FORMATS: Final = (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION)
_FORMATS: Final = ("text", "json_object", "json_schema", "structural_tag")
_POST: Final = re.compile(r"-X[ ]*POST|--request[ =]POST|(?:^|\s)(?:-d|--data(?:-raw)?)[ =]")
_Told = tuple[str, str, str]
"""What is told: the field, what happens, the remedy."""


def shape_of_request(case: Case) -> Iterator[Remark]:
    """One remark on the first request that is refused or misread."""
    if case.base not in (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION):
        return
    for call in calls_to(case):
        if is_shown_to_fail(case, call.line, call.line + call.text.count("\n")):
            continue
        for look in _LOOKS:
            told = look(call, case)
            if told is not None:
                place, what, remedy = told
                message = f"{case.script.where(call.line)}: {what}"
                remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, place, message, remedy)
                yield replace(remark, command=None)
                return


def _kind_of_body(call: ClientCall, _: Case) -> _Told | None:
    """curl sends a form where nothing else is said."""
    if call.kind != "curl" or call.path not in _PATHS or not _BODY.search(call.text) or _TYPE.search(call.text):
        return None
    if _LEFT_OUT.search(call.text):
        return None
    what = "curl sends -d as a form, and the server takes application/json alone: the request is refused"
    return "Content-Type", what, 'add -H "Content-Type: application/json"'


def _kept_variable(call: ClientCall, _: Case) -> _Told | None:
    """A variable within single quotes."""
    body = _SINGLE.search(call.text) if call.kind == "curl" else None
    kept = _KEPT.search(body["body"]) if body is not None else None
    if kept is None:
        return None
    what = f"single quotes keep {kept['name']} as it is written: the server has no model of that name, and answers 404"
    return "model", what, "close the single quotes around it: '…\"'\"$NAME\"'\"…'"


def _single_quotes(call: ClientCall, _: Case) -> _Told | None:
    """`-d "{'model': 'k2'}"`."""
    if call.kind != "curl" or not _QUOTED_SINGLY.search(call.text):
        return None
    what = "names and texts of the body are in single quotes, which is no JSON: it answers 400"
    return "-d", what, "write the body in single quotes with double quotes inside"


def _text_for_messages(call: ClientCall, _: Case) -> _Told | None:
    """`"messages": "hi"`."""
    if call.kind != "curl" or not call.is_chat or not _TEXT.search(call.text):
        return None
    return (
        "messages",
        "messages is a text, and a list is wanted: it answers 400",
        'write [{"role": "user", "content": …}]',
    )


def _options_of_stream(call: ClientCall, case: Case) -> _Told | None:
    """`stream_options` of a request that is no stream."""
    if call.kind != "curl" or case.base != names.EXPERTS_BY_VARIABLE or call.path not in _PATHS:
        return None
    if not _OPTIONS.search(call.text) or _STREAM.search(call.text):
        return None
    return "stream_options", "stream_options is refused without stream: true (400)", 'add "stream": true'


def _top_without_logprobs(call: ClientCall, case: Case) -> _Told | None:
    """`top_logprobs` alone."""
    if case.base != names.EXPERTS_BY_VARIABLE or not call.is_chat:
        return None
    if not _TOP.search(call.text) or _LOGPROBS.search(call.text) or "**" in call.text:
        return None
    return "top_logprobs", "top_logprobs is refused without logprobs: true (400)", "add logprobs: true"


def _share_of_tokens(call: ClientCall, _: Case) -> _Told | None:
    """`top_p: 0`, and above 1."""
    if call.kind == "client" or not _TOP_P.search(call.text):
        return None
    return "top_p", "top_p must be above 0 and at most 1: it answers 400", "write temperature 0 for greedy answers"


def _format_of_answer(call: ClientCall, case: Case) -> _Told | None:
    """`response_format: {"type": "json"}`."""
    match = _FORMAT.search(call.text) if call.kind != "client" and case.base in _OF_FORMATS else None
    if match is None or match["type"] in _FORMATS:
        return None
    what = f"response_format has no type {match['type']}: it answers 400"
    return "response_format", what, 'write {"type": "json_object"}, or json_schema with a schema'


def _library_field(call: ClientCall, _: Case) -> _Told | None:
    """`extra_body` in the body itself, which is an argument of the library."""
    if call.kind != "curl" or not _EXTRA.search(call.text):
        return None
    what = "extra_body is an argument of OpenAI's library, and the server passes over a field of that name"
    return "extra_body", what, "write what is in it beside messages"


def _switch_of_provider(call: ClientCall, _: Case) -> _Told | None:
    """`thinking: {type: disabled}`, which the services of the models' publishers read."""
    match = _SWITCH.search(call.text) if call.is_chat else None
    if match is None:
        return None
    wanted = "true" if match["value"] == "enabled" else "false"
    what = "thinking with a type is a field of the publisher's own service, and this server passes over it"
    return "thinking", what, f'write chat_template_kwargs: {{"thinking": {wanted}}}, or what the template reads'


def _posted_list(call: ClientCall, _: Case) -> _Told | None:
    """POST to the list of models."""
    if call.kind != "curl" or call.path.rstrip("/") != "/v1/models" or not _POST.search(call.text):
        return None
    return "/v1/models", "/v1/models answers GET alone, and POST with 405", "leave -X POST and -d out"


_LOOKS: Final[tuple[Callable[[ClientCall, Case], _Told | None], ...]] = (
    _kind_of_body,
    _kept_variable,
    _single_quotes,
    _text_for_messages,
    _options_of_stream,
    _top_without_logprobs,
    _share_of_tokens,
    _format_of_answer,
    _library_field,
    _switch_of_provider,
    _posted_list,
)
