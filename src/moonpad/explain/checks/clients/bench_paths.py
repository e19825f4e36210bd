"""Where a measurement in the text sends its requests: a path for its kind of requests, and the server's own port."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import EXPERTS_BY_OPTION
from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE as MEASURED
from moonpad.engines.surrounding_names import ASK_AT_GENERATE, MEASURES, PORTS_OF_BACKENDS
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_names import is_only_server
from moonpad.explain.commands import Command
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import program_named, program_table
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_BACKEND: Final = ("--backend", "--endpoint-type")
_ENDPOINT: Final = ("--endpoint",)
_CHAT: Final = "openai-chat"
_PLAIN: Final = frozenset({"openai", "openai-completions"})
_DEFAULT: Final = "/v1/completions"
_LOCAL: Final = re.compile(r"(?:127\.0\.0\.1|localhost|0\.0\.0\.0)?")
_BETWEEN: Final = re.compile(
    r"nginx|proxy|router|gateway|litellm|tunnel|port-forward|haproxy|dynamo|-p[ ]\d+:", re.IGNORECASE
)
_MOST: Final = 60


def path_of_requests(case: Case) -> Iterator[Remark]:
    """`--backend openai-chat` with the default path, and chat's path with a backend of plain completions."""
    script = case.script
    for command in script.commands[:_MOST]:
        if not _is_measurement(command):
            continue
        backend, endpoint = (_text(command, flags) for flags in (_BACKEND, _ENDPOINT))
        if unresolved(backend) or unresolved(endpoint) or command.more or not _has_endpoint(command):
            continue
        path, at = endpoint or _DEFAULT, script.where(command.line)
        if backend == _CHAT and not path.rstrip("/").endswith("chat/completions"):
            told = "" if endpoint else ", the default,"
            message = f"{at}: {backend} asks at …/chat/completions alone, and {path}{told} ends the measurement"
            remedy = "add --endpoint /v1/chat/completions"
        elif backend in _PLAIN and path.rstrip("/").endswith("chat/completions"):
            message = f"{at}: {backend} sends prompts, and {path} wants messages: each request is refused"
            remedy = f"write --backend {_CHAT}, or leave --endpoint out"
        else:
            continue
        if _is_first_of(case):
            remark = make_remark(Severity.WARNING, Code.CONFLICT, "--endpoint", message, remedy)
            yield replace(remark, command=None)
        return


def port_of_measurement(case: Case) -> Iterator[Remark]:
    """`--port 8000` of a measurement, and a server that listens on 30000."""
    script, place = case.script, case.option("--port")
    if not is_only_server(case) or case.open_ended or case.commands[0].container is not None:
        return
    own = case.text("--port").strip("'\"") if place is not None else str(case.engine.command_line.port or "")
    if not own.isdigit() or is_in_lines(_BETWEEN, script.lines, 2000):
        return
    for command in script.commands[:_MOST]:
        host, port = _text(command, ("--host",)), _text(command, ("--port",))
        by_itself = (
            ""
            if port or command.more or program_table().engines.get(command.program) != EXPERTS_BY_OPTION
            else (str(PORTS_OF_BACKENDS.get(_text(command, ("--backend",)), "")))
        )
        port = port or by_itself
        if not _is_measurement(command) or not port.isdigit() or port == own or not _LOCAL.fullmatch(host):
            continue
        if command.program == MEASURES:
            continue  # bench_targets.py
        if _text(command, ("--base-url", "--server-url")):
            continue
        told = ", that of its --backend," if by_itself else ","
        message = (
            f"{script.where(command.line)}: the measurement asks at port {port}{told} and the server listens on {own}"
        )
        remark = make_remark(Severity.WARNING, Code.CONFLICT, "--port", message, f"write --port {own} there")
        yield replace(remark, command=None)
        return


def backend_of_measurement(case: Case) -> Iterator[Remark]:
    """A measurement by one engine's own path, /generate, of a server of the other, which does not have it."""
    script = case.script
    if case.base != MEASURED or not is_only_server(case) or is_in_lines(_BETWEEN, script.lines, 2000):
        return
    own = case.text("--port").strip("'\"") or str(case.engine.command_line.port or "")
    for command in script.commands[:_MOST]:
        if not _is_measurement(command) or program_table().engines.get(command.program) != EXPERTS_BY_OPTION:
            continue
        backend, asked = _text(command, ("--backend",)), _text(command, ("--port",)) or _port_in(command)
        if backend not in ASK_AT_GENERATE or asked != own:
            continue
        message = (
            f"{script.where(command.line)}: --backend {backend} asks at /generate, which {case.engine.facts.title} "
        )
        message += "does not have: each request ends in 404"
        remark = make_remark(
            Severity.WARNING, Code.CONFLICT, "--backend", message, f"write --backend {case.base}, or {case.base}-chat"
        )
        yield replace(remark, command=None)
        return


def prompts_of_measurement(case: Case) -> Iterator[Remark]:
    """Fewer requests than are to run at once."""
    if not _is_first_of(case):
        return
    for command in case.script.commands[:_MOST]:
        prompts, at_once = _text(command, ("--num-prompts",)), _text(command, ("--max-concurrency",))
        if not _is_measurement(command) or not prompts.isdigit() or not at_once.isdigit():
            continue
        if 0 < int(prompts) < int(at_once):
            message = f"{case.script.where(command.line)}: {prompts} requests in all are never {at_once} at once"
            remedy = "measure several times as many requests as run at once"
            remark = make_remark(Severity.NOTE, Code.SUBOPTIMAL, "--num-prompts", message, remedy)
            yield replace(remark, command=None)
            return


def _port_in(command: Command) -> str:
    """The port in the address of a measurement."""
    address = re.search(r":(\d{2,5})/?$", _text(command, ("--base-url",)))
    return address[1] if address is not None else ""


def _has_endpoint(command: Command) -> bool:
    """Whether it is the measurement that has paths of its own."""
    return program_table().engines.get(command.program) == MEASURED


def _is_measurement(command: Command) -> bool:
    program = program_named(command.program)
    return program is not None and program.kind == "client"


def _is_first_of(case: Case) -> bool:
    """Whether what concerns no deployment is said with this one."""
    first = min(command.line for command in case.script.commands if command.program not in ("other", "docker"))
    return case.commands[0].line <= first or is_only_server(case)


def _text(command: Command, flags: tuple[str, ...]) -> str:
    word = value_of(command.argv, flags)
    return word.text.strip("'\"") if word is not None else ""
