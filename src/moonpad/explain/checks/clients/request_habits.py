"""Requests that a server takes, and answers otherwise than their author meant: cut off, in circles, in parts that are
none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import calls_to
from moonpad.explain.checks.clients.request_limits import THINKS, WITHOUT_THOUGHTS
from moonpad.explain.documents.client_calls import ClientCall
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LONGEST: Final = 2000
_SERVERS: Final = (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION)
_BY_ITSELF: Final = 16
"""Tokens of a plain completion where the request sets no max_tokens (completion/protocol.py of vLLM,
openai/protocol.py of SGLang)."""
_LIMIT: Final = re.compile(r"max_(?:completion_)?tokens|max_new_tokens")
_LEFT_OUT: Final = re.compile(r"\.\.\.|…|\*\*|@[\w./$-]|\$\{?\w")
_CUT: Final = re.compile(
    r"\b(?:cut(?:s| off)?|truncat\w*|incomplete|stops? (?:after|early)|too short|only (?:a few|one|the first)"
    r"|one line)\b"
    r"|finish_reason[\"']?: ?[\"']?length|completion_tokens[\"']?: ?16\b|截断|不完整",
    re.IGNORECASE,
)
_GREEDY: Final = re.compile(r"(?:[\"']temperature\\?[\"']\s*:|\btemperature\s*=)\s*0(?:\.0+)?(?![.\d])")
_NEVER_GREEDY: Final = re.compile(r"deepseek-r1|qwen3-[\w.-]*thinking|qwq", re.IGNORECASE)
"""Models whose pages speak against greedy answers in so many words."""
_SPREAD: Final = re.compile(r"\*\*(?P<name>[A-Za-z_]\w*)\s*[,)]")
_FAR: Final = 40
_CIRCLES: Final = re.compile(
    r"\brepeat\w*|\brepetiti\w+|\bendless\w*|\bloop(?:s|ing)?\b|\bnever (?:stops?|ends?)\b|in circles|重复|循环|复读",
    re.IGNORECASE,
)
_AT_LINE: Final = re.compile(r"(?:[\"']stop\\?[\"']\s*:|\bstop\s*=)\s*\[?\s*\\?[\"']\\{1,2}n\\?[\"']\s*\]?\s*[,)}]?")
_JOINED: Final = re.compile(r"^\s*\w[\w.\[\]\"']{0,60}\s*\+=\s*[\w.\[\]]{0,60}delta\.content\s*(?:#.*)?$")
_ASKED: Final = re.compile(
    r"(?:\bif\b|\bor\b|\bis not None\b|:=).*delta\.content|delta\.content.*(?:\bor\b|\bif\b|None)"
)
_ABOVE: Final = 4
_ALWAYS: Final = ("--enable-force-include-usage",)
_STREAM: Final = re.compile(r"\bstream\s*=\s*True\b")
_WITH_USAGE: Final = re.compile(r"include_usage|stream_options|continuous_usage")
_USAGE: Final = re.compile(r"\b(?:chunk|part|event|delta|piece)\w{0,10}\.usage\b")
_BASE: Final = re.compile(r"(?:kimi|moonlight|deepseek|qwen|glm)[\w.-]*-base|moonlight-16b-a3b", re.IGNORECASE)


def length_of_completion(case: Case) -> Iterator[Remark]:
    """A plain completion without `max_tokens`, of which the text shows or says that it is cut."""
    if case.base not in _SERVERS:
        return
    for call in calls_to(case):
        if not _is_plain(call) or _LIMIT.search(call.text) or _LEFT_OUT.search(call.text):
            continue
        if not is_in_lines(_CUT, case.script.lines, _LONGEST):
            return
        message = f"{case.script.where(call.line)}: a plain completion has {_BY_ITSELF} tokens where the request does "
        yield _said("max_tokens", f"{message}not say how many", "add max_tokens")
        return


def greedy_thoughts(case: Case) -> Iterator[Remark]:
    """Temperature 0 for a model that thinks."""
    model = (case.first.model or "").rstrip("/").rpartition("/")[2]
    never = _NEVER_GREEDY.search(model) is not None
    if case.base not in _SERVERS or not (never or THINKS.search(model)):
        return
    for call in calls_to(case):
        text = call.text + _handed_in(call, case.script.lines)
        if not call.is_chat or not _GREEDY.search(text) or WITHOUT_THOUGHTS.search(text):
            continue
        told = is_in_lines(_CIRCLES, case.script.lines, _LONGEST)
        if not (never or told):
            return
        message = f"{case.script.where(call.line)}: at temperature 0 the thoughts of {shortened(model, 40)} may run in "
        message += "circles until no token is left"
        remedy = "take the temperature that the model's page names, 0.6 to 1.0"
        yield _said("temperature", message, remedy, Severity.WARNING if told else Severity.NOTE)
        return


def _handed_in(call: ClientCall, lines: tuple[str, ...]) -> str:
    """The last line above that sets what a call spreads: `create(…, **sampling)`."""
    spread = _SPREAD.search(call.text)
    if spread is None:
        return ""
    sets = re.compile(rf"^\s*{spread['name']}\s*=\s*(?:dict\(|{{)")
    above = (line[:_LONGEST] for line in reversed(lines[max(0, call.line - _FAR) : call.line - 1]))
    return next((f"\n{line}" for line in above if sets.match(line)), "")


def ended_at_line(case: Case) -> Iterator[Remark]:
    """`stop=["\\n"]` of a chat."""
    for call in calls_to(case):
        if not call.is_chat or not _AT_LINE.search(call.text):
            continue
        told = is_in_lines(_CUT, case.script.lines, _LONGEST)
        message = f"{case.script.where(call.line)}: stop ends each answer at its first line break"
        yield _said("stop", message, "leave stop out", Severity.WARNING if told else Severity.NOTE)
        return


def parts_without_text(case: Case) -> Iterator[Remark]:
    """`answer += chunk.choices[0].delta.content` while the thoughts come in a field of their own."""
    flag = case.engine.command_line.reasoning_parser
    model = (case.first.model or "").rstrip("/").rpartition("/")[2]
    if case.base not in _SERVERS or not flag or case.option(flag) is None or not THINKS.search(model):
        return
    lines = case.script.lines
    case.script.budget.once("parts of streams", len(lines) // 4, "the text around its engine commands")
    for number, line in enumerate(lines, 1):
        if "delta.content" not in line or not _JOINED.match(line[:_LONGEST]):
            continue
        if any(_ASKED.search(text[:_LONGEST]) for text in lines[max(0, number - 1 - _ABOVE) : number]):
            continue
        message = f"{case.script.where(number)}: delta.content is None while the model thinks, its thoughts come in a "
        message += "field of their own: TypeError"
        yield _said("delta.content", message, 'write (… .delta.content or "")')
        return


def usage_of_stream(case: Case) -> Iterator[Remark]:
    """A stream whose usage is read, and not asked for."""
    if case.base not in _SERVERS or case.option(*_ALWAYS) is not None:
        return
    lines = case.script.lines
    for call in calls_to(case):
        if call.kind != "create" or not _STREAM.search(call.text) or _LEFT_OUT.search(call.text):
            continue
        if is_in_lines(_WITH_USAGE, lines, _LONGEST) or not is_in_lines(_USAGE, lines, _LONGEST):
            return
        message = f"{case.script.where(call.line)}: no part of a stream has usage where the request does not ask for it"
        yield _said("usage", message, 'add stream_options={"include_usage": True}')
        return


def chat_with_base(case: Case) -> Iterator[Remark]:
    """A chat with weights that were never trained for one."""
    model = (case.checkpoint.name if case.checkpoint else case.first.model or "").rstrip("/").rpartition("/")[2]
    if case.base not in _SERVERS or not _BASE.fullmatch(model):
        return
    for call in calls_to(case):
        if call.is_chat:
            message = (
                f"{case.script.where(call.line)}: {shortened(model, 40)} is a base model, which goes on with a text "
            )
            message += "and knows no turns: a chat with it does not end, or makes no sense"
            yield _said(
                "model", message, "serve the model with -Instruct in its name, or send prompts to /v1/completions"
            )
            return


def _is_plain(call: ClientCall) -> bool:
    """Whether it asks for a completion of a text, and the whole request stands there."""
    if call.kind == "curl":
        return call.path.rstrip("/") == "/v1/completions" and "prompt" in call.text
    return call.kind == "create" and call.text.startswith(".completions.") and "prompt" in call.text


def _said(place: str, message: str, remedy: str, severity: Severity = Severity.WARNING) -> Remark:
    return replace(make_remark(severity, Code.SUBOPTIMAL, place, message, remedy), command=None)


REQUEST_HABITS: Final = (
    length_of_completion,
    greedy_thoughts,
    ended_at_line,
    parts_without_text,
    usage_of_stream,
    chat_with_base,
)
