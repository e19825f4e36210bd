"""Where a measurement of the text sends its requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE as MEASURED
from moonpad.engines.surrounding_names import MEASURES
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import program_named
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_BASE_URL: Final = "--base-url"
_WITH_PATH: Final = re.compile(r"https?://[^\s/]+/v1/?")
_LOCAL: Final = ("127.0.0.1", "localhost", "0.0.0.0")  # noqa: S104 what is written, not what is bound
_BETWEEN: Final = re.compile(
    r"nginx|proxy|router|gateway|litellm|tunnel|ssh\s.*-L|socat|port-forward|traefik|envoy|haproxy|dynamo|disagg",
    re.IGNORECASE,
)
_DEFAULT: Final = "8000"
_MOST: Final = 60


def bench_target(case: Case) -> Iterator[Remark]:
    """`--base-url http://localhost:8000/v1`, behind which the measurement puts /v1/completions; another port."""
    script = case.script
    if case.base != MEASURED or not is_first(case.commands, script) or len(script.commands) > _MOST:
        return
    for command in script.commands:
        if command.program != MEASURES:
            continue
        base, where = value_of(command.argv, (_BASE_URL,)), script.where(command.line)
        if base is not None:
            address = base.text.strip("'\"")
            if _WITH_PATH.fullmatch(address) and value_of(command.argv, ("--endpoint",)) is None:
                message = f"{where}: --endpoint, /v1/completions by itself, is put behind {shortened(address)}: 404"
                remedy = f"write {_BASE_URL} {shortened(address.rstrip('/').removesuffix('/v1'))}"
                remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, _BASE_URL, message, remedy)
                yield replace(remark, command=None)
                return
            continue
        ports = _ports(script.commands)
        host, port = value_of(command.argv, ("--host",)), value_of(command.argv, ("--port",))
        asked = port.text.strip("'\"") if port is not None else _DEFAULT
        here = host is None or host.text.strip("'\"") in _LOCAL
        if not here or not ports or not asked.isdigit() or asked in ports or script.objects:
            continue
        script.budget.work(len(script.lines), "the text around its engine commands")
        if is_in_lines(_BETWEEN, script.lines, 500) or _elsewhere(asked, case, command):
            continue
        message = (
            f"{where}: the measurement asks port {asked}, and the servers here listen on {', '.join(sorted(ports))}"
        )
        remark = make_remark(Severity.WARNING, Code.CONFLICT, "--port", message, f"write --port {min(ports)}")
        yield replace(remark, command=None)
        return


def _ports(commands: Sequence[Command]) -> set[str]:
    """Empty where one of them is not known."""
    found: set[str] = set()
    for command in commands:
        program = program_named(command.program)
        if program is None or program.kind != "server":
            continue
        word = value_of(command.argv, ("--port",))
        text = word.text.strip("'\"") if word is not None else str(_DEFAULT)
        container = command.container
        if not text.isdigit() or unresolved(text) or command.program == "fragment" or command.more or command.custom:
            return set()
        if container is not None and container.given("--publish"):
            text = container.values("--publish")[-1].split(":")[-2:][0]
        if value_of(command.argv, ("--config",)) is not None and word is None:
            return set()
        found.add(text)
    return found


def _elsewhere(port: str, case: Case, command: Command) -> bool:
    """Whether the number stands in another line than those of the measurement."""
    last = max(word.end_line for word in command.words)
    number = re.compile(rf"(?<!\d){port}(?!\d)")
    lines = enumerate(case.script.lines, 1)
    return any(number.search(text[:1000]) for at, text in lines if not command.line <= at <= last)
