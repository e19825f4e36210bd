"""Requests that a server refuses for what they lack: its key, the version in its path, a port that leads to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_names import is_only_server
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_KEY: Final = "--api-key"
_WITH_KEY: Final = re.compile(r"authorization|bearer|api[-_]?key[\"']?[ ]*[=:]|x-api-key|OPENAI_API_KEY", re.IGNORECASE)
_WITHOUT_WORD: Final = re.compile(r"\bauthorization:[ ]*(?!bearer|basic|token\b[ ])[\w-]+[\"']", re.IGNORECASE)
_SENT: Final = re.compile(
    r"\bcurl\b[^|;&]*?(?:https?://)?(?P<host>localhost|127\.0\.0\.1|0\.0\.0\.0):(?P<port>[0-9]{2,5})(?P<path>/[\w./-]*)?"
)
_CLIENT: Final = re.compile(
    r"(?:base_url|api_base|OPENAI_(?:API_)?BASE(?:_URL)?)[\"']?[ ]*[=:][ ]*[\"']?"
    r"https?://(?:localhost|127\.0\.0\.1):[0-9]{2,5}/?(?=[\"'\s,)]|$)"
)
OF_OPENAI: Final = re.compile(r"\bOpenAI\(|from openai import|OPENAI_(?:API_)?BASE")
_BARE: Final = re.compile(
    r"https?://[^\s/\"'`<>]{1,100}:(?P<port>[^\s/\"'`<>]{1,60})(?P<path>/(?:chat/completions|completions|embeddings))(?![\w/-])"
)
_COMMENT: Final = re.compile(r"\s*(?:#|//|;)")
_NETWORK: Final = ("--network", "--net")
_BETWEEN: Final = re.compile(
    r"nginx|proxy|router|gateway|litellm|tunnel|ssh\s.*-L|socat|port-forward|traefik|docker[ ]exec|podman[ ]exec",
    re.IGNORECASE,
)


def key_of_request(case: Case) -> Iterator[Remark]:
    """A server with --api-key, and a request of the same text without one."""
    script, place = case.script, case.option(_KEY)
    if place is None or not is_only_server(case) or case.open_ended or is_fragment(case.commands[0]):
        return
    others = tuple(line for line in script.lines if _KEY not in line)
    script.budget.work(2 * len(others), "its requests")
    if is_in_lines(_WITHOUT_WORD, others, 2000):
        message = "the header Authorization has the key without the word Bearer: the server answers 401"
        remedy = 'write -H "Authorization: Bearer …"'
        yield make_remark(Severity.WARNING, Code.CONFLICT, _KEY, message, remedy, at=place.index)
        return
    if is_in_lines(_WITH_KEY, others, 2000):
        return
    behind = max((word.end_line for word in case.commands[0].words), default=0)
    for number, text in numbered(script, behind + 1, len(script.lines)):
        match = _SENT.search(text)
        if match is not None and (match["path"] or "").startswith("/v1/") and not _COMMENT.match(text):
            message = (
                f"{script.where(number)}: the request has no key, and the server wants that of {_KEY}: it answers 401"
            )
            remedy = 'add -H "Authorization: Bearer …" with the key'
            yield make_remark(Severity.WARNING, Code.CONFLICT, _KEY, message, remedy, at=place.index)
            return


def path_without_version(case: Case) -> Iterator[Remark]:
    """`http://localhost:8000/chat/completions`, or a client of OpenAI's library whose base ends at the port."""
    script = case.script
    if case.engine.facts.gguf_only or not is_first_server(case.commands, script):
        return
    own = case.text("--port").strip("'\"") or str(case.engine.command_line.port or "")
    openai = is_in_lines(OF_OPENAI, script.lines, 2000)
    for number, text in numbered(script, 1, len(script.lines)):
        if "://" not in text or _COMMENT.match(text) or _BETWEEN.search(text):
            continue
        if (match := _BARE.search(text)) and (match["port"] == own or not match["port"].isdigit()):
            path = match["path"]
            message = f"{script.where(number)}: {path} is not a path of the server, which answers 404"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, path, message, f"write /v1{path}")
            yield Remark(remark.finding, command=None)
            return
        if openai and (match := _CLIENT.search(text)):
            message = f"{script.where(number)}: the library adds /chat/completions to this address, and the server "
            message += "answers 404 without /v1 before it"
            remark = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, "base_url", message, "write it with /v1 at its end"
            )
            yield Remark(remark.finding, command=None)
            return


def unpublished_port(case: Case) -> Iterator[Remark]:
    """A container without -p, and a request to the port on the machine itself."""
    command, script = case.commands[0], case.script
    container = command.container
    if container is None or container.kind != "docker run" or script.objects or not is_only_server(case):
        return
    options = [word.text for word in container.words]
    by_host = any(container.given(name) for name in _NETWORK) or container.has("--publish-all")
    if by_host or container.given("--publish") or command.custom or command.more or any(map(unresolved, options)):
        return
    if not any(option in ("docker", "podman") for option in options[:3]) or is_in_lines(_BETWEEN, script.lines, 2000):
        return
    behind = max(word.end_line for word in command.words)
    for number, text in numbered(script, behind + 1, len(script.lines)):
        match = _SENT.search(text)
        if match is not None and not _COMMENT.match(text):
            message = f"{script.where(number)}: the container publishes no port, so nothing listens on {match['port']} "
            message += "of this machine: connection refused"
            remedy = f"add -p {match['port']}:{case.text('--port') or match['port']}, or {_NETWORK[0]} host"
            yield Remark(make_remark(Severity.WARNING, Code.MISSING_FLAG, "-p", message, remedy).finding, command=0)
            return
