"""What Dynamo's workers and its frontend are given and do not take: names of parsers and modes, options of other
engines, variables of nearly their names, ports of two workers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Final

from moonpad.engines import dynamo_values as names
from moonpad.engines.value_checks import as_json, number, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import by_module
from moonpad.explain.commands import Command, Word
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_NAME: Final = re.compile(r"[A-Za-z][\w.-]{0,40}", re.ASCII)
_FRONTEND: Final = "dynamo.frontend"
_MODULE: Final = re.compile(r"(?:-m[\s\"',-]{1,12}|^\s*-\s+[\"']?)dynamo\.(\w{2,30})\b(?!\.)", re.ASCII)
_PORT: Final = re.compile(r"--http-port[=\s]+(\d{2,5})\b")
_REQUEST: Final = re.compile(r"\bcurl\b[^\n]*?(?:localhost|127\.0\.0\.1):(\d{2,5})/(?:v1/|health)")
_ENDPOINT: Final = re.compile(r'"endpoint"\s*:\s*"(tcp://[^"\s]{1,60}:\d{2,5})"')
_NO_OBJECT: Final = re.compile(r"\[.*\w.*\]|[A-Za-z_][\w.]*\s*[=:].*", re.DOTALL | re.ASCII)
_LONGEST: Final = 2000
_MOST: Final = 300
_ALIKE: Final = 0.6
_warning = partial(make_remark, Severity.WARNING)


def values_of_worker(case: Case) -> Iterator[Remark]:
    command = case.commands[0]
    module = _module(command)
    if not by_module(command) or not module:
        return
    of_trt = module == names.TRT_MODULE
    takes = {**names.OF_WORKERS, **(names.OF_TRT if of_trt else {})}
    for at, flag, value in _pairs(command.argv):
        if of_trt and flag in names.OF_OTHERS:
            message = f"{flag} is of another engine's worker, and this one has no such option: the start ends"
            yield _warning(Code.UNKNOWN_FLAG, flag, message, names.OF_OTHERS[flag], at=at)
        if of_trt and flag in names.OF_FRONTENDS:
            message = f"{flag} is of the frontend, and this worker has no such option: the start ends"
            yield _warning(Code.UNKNOWN_FLAG, flag, message, f"write {flag} at the frontend", at=at)
        if not value or unresolved(value):
            continue
        yield from _of_list(takes, flag, value, at)
        share = number(value) if of_trt and flag == names.SHARE else None
        if share is not None and share > 1:
            message = f"{shortened(value, 20)} is more than the whole: it is a share of the free memory, from 0 to 1"
            yield _warning(Code.INVALID_VALUE, flag, message, f"write {flag} 0.85", at=at)
        if of_trt and flag == names.OVERRIDE and _NO_OBJECT.fullmatch(value[:_LONGEST]):
            message = "the worker reads a JSON object of keys and values here, and this is none: the start ends"
            yield _warning(Code.INVALID_VALUE, flag, message, """write '{"key": value}'""", at=at)
        elif of_trt and flag == names.OVERRIDE and value.startswith("{") and as_json(value) is None:
            message = "not JSON, which the worker reads here: it wants double quotes, and no comma at the end"
            yield _warning(Code.INVALID_VALUE, flag, message, "write the keys and texts in double quotes", at=at)
    if case.variable(names.BROKER).startswith(("http://", "https://")):
        message = "the broker is not asked by HTTP: its clients take nats:// or tls:// alone"
        yield _warning(Code.INVALID_VALUE, names.BROKER, message, "write nats://HOST:4222")
    for name, (port, message) in names.PORTS.items():
        if case.variable(name).rstrip("/").endswith(port):
            yield _warning(Code.INVALID_VALUE, name, message, "give each its own port")
    for name, right in names.VARIABLES.items():
        if case.variable(name) and not case.variable(right):
            message = f"Dynamo reads {right}, and passes over this one: it looks for the service at localhost"
            yield _warning(Code.INVALID_VALUE, name, message, f"write {right}")


def words_of_frontend(case: Case) -> Iterator[Remark]:
    """Of the frontends and modules of the text, told with its first server."""
    script = case.script
    if len(script.commands) > _MOST or not is_first_server(case.commands, script):
        return
    script.budget.work(len(script.commands), "its engine commands")
    for command in script.commands:
        at = next((at for at, word in enumerate(command.words) if word.text == _FRONTEND), None)
        if at is None or sum(word.text.startswith("dynamo.") for word in command.words) > 1:
            continue
        for _, flag, value in _pairs(command.words[at + 1 :]):
            for remark in _of_list(names.OF_FRONTEND, flag, value, None) if value and not unresolved(value) else ():
                yield Remark(remark.finding, command=None)
    script.budget.work(len(script.lines), "its modules")
    for line in script.lines:
        match = _MODULE.search(line[:400]) if "dynamo." in line else None
        if match is not None and match[1] in names.MODULES:
            right = names.MODULES[match[1]]
            message = f"Dynamo has no module dynamo.{match[1]}: Python ends with No module named dynamo.{match[1]}"
            remark = _warning(Code.INVALID_VALUE, f"dynamo.{match[1]}", message, f"write dynamo.{right}")
            yield Remark(remark.finding, command=None)
            return


def request_of_frontend(case: Case) -> Iterator[Remark]:
    """A request to a port of this machine that is not the one frontend's and that nothing else in the text names."""
    script = case.script
    if len(script.commands) > _MOST or not is_first_server(case.commands, script):
        return
    script.budget.work(len(script.lines) + len(script.commands), "its requests")
    text = "\n".join(line[:400] for line in script.lines)
    ports = _PORT.findall(text)
    if len(ports) != 1 or text.count(_FRONTEND) != 1 or script.objects:
        return
    asked = [match for match in _REQUEST.finditer(text) if match[1] != ports[0]]
    for match in asked:
        if len(re.findall(rf"(?<!\d){match[1]}(?!\d)", text)) == sum(each[1] == match[1] for each in asked):
            message = f"a request goes to port {match[1]}, and the frontend listens on {ports[0]}"
            remark = _warning(Code.CONFLICT, names.HTTP_PORT, message, f"ask port {ports[0]}")
            yield Remark(remark.finding, command=None)
            return


def ports_of_workers(case: Case) -> Iterator[Remark]:
    """Two workers of one machine, as their devices say, on one port for their status or their events."""
    command = case.commands[0]
    own = _devices(command)
    if not by_module(command) or not own or case.script.objects:  # each pod has ports of its own
        return
    others = [
        other
        for other in case.script.commands[:_MOST]
        if by_module(other) and other.line < command.line and _devices(other) not in ("", own)
    ]
    case.script.budget.work(len(others) + 1, "its workers")
    port, endpoint = _variable(command, names.SYSTEM_PORT), _endpoint(command)
    for other in others:
        where = case.script.where(other.line)
        if port.isdigit() and int(port) and _variable(other, names.SYSTEM_PORT) == port:
            message = f"the worker of {where} has the port {port} too: on one machine the second cannot bind it"
            yield _warning(Code.CONFLICT, names.SYSTEM_PORT, message, "give each worker a port of its own")
            return
        if endpoint and "*" in endpoint and _endpoint(other) == endpoint:
            message = (
                f"the worker of {where} sends its events from {endpoint} too: on one machine the second cannot bind it"
            )
            yield _warning(Code.CONFLICT, names.EVENTS, message, "give each worker an endpoint of its own")
            return


def _of_list(takes: Mapping[str, tuple[str, ...]], flag: str, value: str, at: int | None) -> Iterator[Remark]:
    """Of what no release that was read has, only what looks like one of its names: another may have come since."""
    if flag not in takes or value in takes[flag] or not _NAME.fullmatch(value):
        return
    meant = names.INSTEAD.get((flag, value), "")
    near = meant or next(iter(get_close_matches(value.casefold(), takes[flag], 1, _ALIKE)), "")
    if near:
        message = f"Dynamo's {flag} has no {shortened(value, 40)}, in no release that was read: it is refused, or "
        message += "passed over"
        yield _warning(Code.INVALID_VALUE, flag, message, f"write {near}", at=at)


def _pairs(words: Sequence[Word]) -> Iterator[tuple[int, str, str]]:
    """Options with the word behind each; "" where another option follows."""
    for at, word in enumerate(words):
        flag, sign, value = word.text.partition("=")
        if not flag.startswith("--"):
            continue
        if not sign:
            value = next((each.text for each in words[at + 1 : at + 2] if not each.text.startswith("--")), "")
        yield at, flag, value.strip("'\"") if not value.startswith(("'{", '"{')) else value[1:-1]


def _module(command: Command) -> str:
    return next((word.text.split(".")[1] for word in command.prefix if word.text.startswith("dynamo.")), "")


def _devices(command: Command) -> str:
    text = _variable(command, names.DEVICES)
    return "" if unresolved(text) else text


def _variable(command: Command, name: str) -> str:
    word = command.env.get(name)
    return word.text.removeprefix(f"{name}=").strip("'\"") if word else ""


def _endpoint(command: Command) -> str:
    value = next((value for _, flag, value in _pairs(command.argv) if flag == names.EVENTS), "")
    match = _ENDPOINT.search(value[:2000])
    return match[1] if match else ""
