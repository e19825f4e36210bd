"""A request that goes to another port than the server's, or switches thinking off by another model's word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_names import is_only_server
from moonpad.explain.commands import Command
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.programs import base_name
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity

_LONGEST: Final = 2000
_NEAR: Final = 40
"""Lines below a server in which its own request stands."""
_SENT: Final = re.compile(r"\bcurl\b|base_url|OPENAI_(?:API_)?BASE|--base-url|--url\b")
_THERE: Final = re.compile(
    r"(?:localhost|127\.0\.0\.1|<[\w -]{0,30}(?:ip|host|addr)[\w -]{0,30}>|\$\{?\w{0,30}(?:IP|HOST)\w{0,30}\}?)"
    r":(?P<port>[0-9]{2,5})/(?:v1|health)\b"
)
_BASE: Final = re.compile(
    r"--?base[-_]url[ =]+[\"']?https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(?P<port>[0-9]{2,5})(?=/?[\"']?(?:[\s\\]|$))"
)
"""Of a measurement, which adds the path itself."""
_BODY: Final = 12
"""Lines behind a request in which its body names the model."""
_MODEL_ASKED: Final = re.compile(r"""["']model\\?["'][ ]*:[ ]*\\?["'](?P<name>[^"'\\\n]{1,200})""")
_BETWEEN: Final = re.compile(
    r"nginx|proxy|router|gateway|litellm|tunnel|ssh\s.*-L|socat|port-forward|traefik|envoy|haproxy|dynamo",
    re.IGNORECASE,
)
"""What may listen on a port of its own."""
_SWITCHES: Final = tuple(
    (re.compile(models, re.IGNORECASE), reads, others)
    for models, reads, others in (
        (r"kimi[-_]?k2[._-][5-9]", "thinking", "enable_thinking"),
        (r"deepseek-v3\.1", "thinking", "enable_thinking"),
        (r"qwen3(?:\.[5-9]|-(?:0\.6|1\.7|4|8|14|32|30|235)b(?!.*2507))", "enable_thinking", "thinking"),
        (r"glm-(?:4\.[5-7]|5)", "enable_thinking", "thinking"),
    )
)
"""Models that think or not as they are asked, the word that their templates read, and the one of others."""
_SWITCH: Final = (
    r"""(?:chat_template_kwargs["'\\]*\s*[:=]\s*\{?|--default-chat-template-kwargs[ =]+["'\\]*\{)"""
    r"""\s*["'\\]*%s(?![\w-])"""
)
_OTHERS_SWITCH: Final = {word: re.compile(_SWITCH % word) for word in ("thinking", "enable_thinking")}
_ASLEEP: Final = re.compile(r"/sleep(?![\w?/-])[\"']?(?P<rest>[^;|&]*)")
_LEVEL: Final = re.compile(
    r"(?:-d|--data(?:-raw)?|--json|json=)[ =]*[^;|&]*[\"']level[\"'\\]*[ ]*:[ ]*[\"'\\]*(?P<level>[0-2])"
)
_COMMENT: Final = re.compile(r"\s*(?:#|//|;)")
_NOT_REACHED: Final = re.compile(r"[Ff]ailed to connect to|[Cc]onnection refused|Couldn't connect to server")
"""What a client says where nothing listens."""


def request_port(case: Case) -> Iterator[Remark]:
    """Where one server is started with a port, and each request below goes to another on the same machine, which is
    named nowhere else: no map of a container, no tunnel and no proxy."""
    place, script = case.option("--port"), case.script
    port = case.text("--port").strip("'\"") if place is not None else str(case.engine.command_line.port or "")
    if not port.isdigit() or case.open_ended or not is_only_server(case):
        return
    script.budget.work(2 * len(script.lines), "the text around its engine commands")
    behind = max((word.end_line for word in case.commands[0].words), default=case.commands[0].line)
    sent: dict[str, int] = {}
    for number, line in enumerate(script.lines, 1):
        text = line[:_LONGEST]
        if _BETWEEN.search(text):
            return
        there = _there(text)
        if there is None or _COMMENT.match(text):
            continue
        if number <= behind or not _SENT.search(text):
            return
        sent.setdefault(there["port"], number)
    if len(sent) != 1 or port in sent:
        return
    ((asked, line_number),) = sent.items()
    if _is_elsewhere(asked, script.lines):
        return
    by_default = "" if place is not None else ", the engine's own"
    message = f"a request (line {line_number}) goes to port {asked}, and the server listens on {port}{by_default}"
    at = place.index if place is not None else None
    remedy = f"ask at port {port}, or start it with --port {asked}"
    yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "--port", message, remedy, at=at)


def port_below(case: Case) -> Iterator[Remark]:
    """The same of a guide with several servers, each with its request below it: the lines up to the next server."""
    script, command, place = case.script, case.commands[0], case.option("--port")
    if case.open_ended or len(case.commands) > 1 or command.role or command.more:
        return
    port = case.text("--port").strip("'\"") if place is not None else str(case.engine.command_line.port or "")
    if (
        not port.isdigit()
        or command.container is not None
        or command.wrappers
        or is_only_server(case)
        or is_fragment(command)
    ):
        return
    behind = max((word.end_line for word in command.words), default=command.line)
    script.budget.once("listeners", 2 * len(script.lines), "the text around its engine commands")
    if _first_between(script.lines) <= behind + _NEAR:
        return
    script.budget.work(_NEAR + len(script.commands), "the text around its engine commands")
    next_lines = (command.line for command in script.commands if command.line > behind and not _is_curl(command))
    following = min(next_lines, default=len(script.lines) + 1)
    sent: dict[str, int] = {}
    for number in range(behind + 1, min(following, behind + _NEAR, len(script.lines)) + 1):
        text = script.lines[number - 1][:_LONGEST]
        there = _there(text) if number < following and not _COMMENT.match(text) else None
        if there is not None and _SENT.search(text):
            sent.setdefault(there["port"], number)
    if len(sent) != 1 or port in sent:
        return
    ((asked, at),) = sent.items()
    if place is not None and (_is_elsewhere(asked, script.lines) or _of_another(at, case)):
        return
    by_default = "" if place is not None else ", the engine's own"
    message = (
        f"the request below ({script.where(at)}) goes to port {asked}, and this server listens on {port}{by_default}"
    )
    remedy = f"ask at port {port}, or start it with --port {asked}"
    index = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "--port", message, remedy, at=index)


def _of_another(line: int, case: Case) -> bool:
    """Whether the request in this line names a model that this server is not called by."""
    body = "\n".join(text[:_LONGEST] for text in case.script.lines[line - 1 : line + _BODY])
    asked = _MODEL_ASKED.search(body)
    own = {case.first.model or "", *(word.text.strip("'\"") for word in case.commands[0].argv)}
    names = {*own, *(name.rpartition("/")[2] for name in own)}
    return asked is not None and asked["name"] not in names


def _is_curl(command: Command) -> bool:
    return bool(command.words) and base_name(command.words[0]) == "curl"


def _is_elsewhere(port: str, lines: tuple[str, ...]) -> bool:
    """Whether anything but requests has the number."""
    number = re.compile(rf"(?<![0-9]){port}(?![0-9])")
    texts = (line[:_LONGEST] for line in lines if not _NOT_REACHED.search(line[:_LONGEST]))
    return any(number.search(text) and not _there(text) for text in texts)


@lru_cache(maxsize=2)
def _first_between(lines: tuple[str, ...]) -> int:
    """The first line that speaks of what may listen on a port of its own; behind the text where none does."""
    named = (number for number, line in enumerate(lines, 1) if _BETWEEN.search(line[:_LONGEST]))
    return next(named, len(lines) + _LONGEST)


def _there(text: str) -> re.Match[str] | None:
    return _THERE.search(text) or _BASE.search(text)


def thinking_switch(case: Case) -> Iterator[Remark]:
    """Templates read one word of `chat_template_kwargs`, and pass over what they do not know."""
    model = case.first.model or ""
    found = next(((reads, others) for models, reads, others in _SWITCHES if models.search(model)), None)
    if found is None or not is_only_server(case):
        return
    reads, others = found
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    for number, line in enumerate(case.script.lines, 1):
        text = line[:_LONGEST]
        if others in text and _OTHERS_SWITCH[others].search(text) and not _COMMENT.match(text):
            name = shortened(model.rpartition("/")[2], 40)
            message = f"{others} (line {number}) is passed over: the template of {name} reads `{reads}`"
            remedy = f'write {{"{reads}": false}} to switch it off, which this model takes'
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "chat_template_kwargs", message, remedy)
            return


def sleep_level(case: Case) -> Iterator[Remark]:
    """How deep the server sleeps is read in the address alone."""
    if case.base != names.EXPERTS_BY_VARIABLE or not is_first(case.commands, case.script):
        return
    case.script.budget.once("levels of sleep", len(case.script.lines), "the text around its engine commands")
    if not is_in_lines(_ASLEEP, case.script.lines, _LONGEST):
        return
    for number, line in enumerate(case.script.lines, 1):
        asleep = _ASLEEP.search(line[:_LONGEST])
        following = " ".join(case.script.lines[number : number + 3]) if asleep and line.rstrip().endswith("\\") else ""
        level = _LEVEL.search(f"{asleep['rest']} {following}") if asleep else None
        if level is not None and level["level"] != "1":
            message = f"{case.script.where(number)}: /sleep reads the level in the address and passes over the body"
            remedy = f"ask for /sleep?level={level['level']}"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "level", message, remedy)
            yield Remark(remark.finding, command=None)
            return
