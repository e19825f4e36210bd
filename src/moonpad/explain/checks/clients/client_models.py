"""The model that a client of the text names, and the port that a load generator asks, against the only server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import (
    BETWEEN,
    HOSTED,
    calls_to,
    is_shown_to_fail,
    own_port,
    stands_elsewhere,
)
from moonpad.explain.checks.clients.proxied_names import OPEN, names_of_server
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.documents.client_calls import ClientCall
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_MODEL: Final = re.compile(r"\bmodel(?:_name)?[ ]*=[ ]*[\"'](?P<name>[^\"'\n]{1,120})[\"']")
_GENERATOR: Final = re.compile(
    r"(?:^|[\s$;&|])(?P<name>evalscope perf|aiperf profile|genai-perf profile|guidellm benchmark)\b"
)
_WORD: Final = r"(?:^|\s)(?:{})[= ]+[\"']?(?P<value>[^\s\"'\\]+)"
_ASKED: Final = re.compile(_WORD.format("--model|--model-names|-m"))
_ADDRESS: Final = re.compile(_WORD.format("--url|-u|--target"))
_HERE: Final = re.compile(r"(?:https?://)?(?:localhost|127\.0\.0\.1)(?::(?P<port>\d{2,5}))(?P<path>/\S*)?")
_VARIABLE: Final = re.compile(
    r"\bANTHROPIC_(?P<name>BASE_URL|MODEL|SMALL_FAST_MODEL|DEFAULT_(?:HAIKU|SONNET|OPUS)_MODEL)"
    r"(?:=[\"']?|[\"'][ ]*:[ ]*[\"'])(?P<value>[^\s\"'#,]+)"
)
_THERE: Final = re.compile(r"https?://[A-Za-z0-9][\w.-]*:(?P<port>\d{2,5})(?P<path>/\S*)?")
_SMALL: Final = ("SMALL_FAST_MODEL", "DEFAULT_HAIKU_MODEL")
_OF_CLIENT: Final = "claude"
_SIZE: Final = re.compile(r"(?<![a-z0-9])(\d{1,4}(?:\.\d{1,2})?)b(?![a-z0-9])")
"""The weights in 10^9, as names of models have them."""
_LONGEST: Final = 1000
_MOST: Final = 25


class _Generator(NamedTuple):
    name: str
    line: int
    text: str


def model_of_client(case: Case) -> Iterator[Remark]:
    """`create(model="kimi")` and `ChatOpenAI(model="kimi")` of a server that answers to another name."""
    known = _sure_names(case)
    if not known:
        return
    for call in calls_to(case):
        below = call.line > case.commands[0].line  # what is above asks another server
        match = _MODEL.search(call.text) if below and call.kind in ("client", "create") else None
        if match is None or match["name"] in known or OPEN.search(match["name"]):
            continue
        if call.kind == "create" and _of_another_size(match["name"], known[0]):
            continue  # a client that is not shown, of another server
        if not is_shown_to_fail(case, call.line, call.line + call.text.count("\n")):
            yield _of_name(case, call, match["name"], known[0])
            return


def load_generator(case: Case) -> Iterator[Remark]:
    """`aiperf profile --url localhost:8080 -m kimi` of a server on port 8000, or with another name."""
    script, port = case.script, own_port(case)
    if not port or not is_one_group(case) or case.open_ended or is_in_lines(BETWEEN, script.lines, _LONGEST):
        return
    known = _sure_names(case)
    script.budget.once("load generators", len(script.lines), "the text around its engine commands")
    for one in _generators(script.lines):
        address, model = _ADDRESS.search(one.text), _ASKED.search(one.text)
        here = _HERE.fullmatch(address["value"]) if address is not None else None
        if here is None or is_shown_to_fail(case, one.line):
            continue
        where, asked = script.where(one.line), model["value"] if model is not None else ""
        if here["port"] != port:
            below = one.line > case.commands[0].line
            if not below or stands_elsewhere(case, here["port"], one.line, one.line + _MOST // 2):
                continue
            message = f"{where}: {one.name} asks at port {here['port']}, and the server listens on {port}"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, "--url", message, f"write port {port} there")
        elif known and asked and asked not in known and not OPEN.search(asked):
            message = f"{where}: {one.name} asks for {shortened(asked, 60)}, and the server is called "
            message += f"{shortened(known[0], 60)}: it answers 404"
            remedy = f"ask for {shortened(known[0], 60)}"
            remark = make_remark(Severity.WARNING, Code.MODEL_NAME, "--model", message, remedy)
        else:
            continue
        yield replace(remark, command=None)
        return


def variables_of_client(case: Case) -> Iterator[Remark]:
    """`ANTHROPIC_BASE_URL=http://localhost:8000/v1`, behind which the client puts /v1/messages, and its model."""
    script, port = case.script, own_port(case)
    if not port or not is_one_group(case) or is_in_lines(BETWEEN, script.lines, _LONGEST):
        return
    if case.base not in (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION):
        return
    known, here = _sure_names(case), False
    script.budget.once("variables of a client", 2 * len(script.lines), "the text around its engine commands")
    places = _variables(script.lines)
    for number, name, value in places:
        if is_shown_to_fail(case, number):
            continue
        if name == "BASE_URL":
            address = _THERE.fullmatch(value)
            here = address is not None and address["port"] == port
            if address is None or not here or (address["path"] or "").rstrip("/") != "/v1":
                continue
            message = f"{script.where(number)}: the client puts /v1/messages behind this address, which ends with /v1: "
            message, place, remedy = f"{message}the server answers 404", "ANTHROPIC_BASE_URL", "leave /v1 out"
        elif here and known and value not in known and not OPEN.search(value):
            message = f"{script.where(number)}: the client asks for {shortened(value, 60)}, and the server is called "
            message, place = f"{message}{shortened(known[0], 60)}: it answers 404", f"ANTHROPIC_{name}"
            remedy = f"write {shortened(known[0], 60)}"
        else:
            continue
        yield replace(make_remark(Severity.WARNING, Code.INVALID_VALUE, place, message, remedy), command=None)
        return
    chosen = {name: number for number, name, _ in places}
    small = any(name in chosen for name in _SMALL) or any(_OF_CLIENT in name for name in known)
    if here and known and "MODEL" in chosen and not small:
        where = script.where(chosen["MODEL"])
        message = (
            f"{where}: for small tasks the client asks for a model of its own, and this server answers 404 to all "
        )
        message += f"names but {shortened(known[0], 60)}"
        remedy = f"set ANTHROPIC_{_SMALL[1]}={shortened(known[0], 60)} as well"
        remark = make_remark(Severity.NOTE, Code.MODEL_NAME, f"ANTHROPIC_{_SMALL[1]}", message, remedy)
        yield replace(remark, command=None)


@lru_cache(maxsize=4)
def _variables(lines: tuple[str, ...]) -> tuple[tuple[int, str, str], ...]:
    """Line, name and value of each variable of the client, what is commented out apart."""
    found = []
    for number, line in enumerate(lines, 1):
        if "ANTHROPIC_" in line and not line.lstrip().startswith("#"):
            found += [(number, match["name"], match["value"]) for match in _VARIABLE.finditer(line[:_LONGEST])]
    return tuple(found)


def _of_another_size(asked: str, known: str) -> bool:
    """Whether both names tell a size, and not the same one: `llama-3-70b` and `Llama-3-8B-Instruct`."""
    sizes = [{*_SIZE.findall(name.casefold())} for name in (asked, known)]
    return all(sizes) and sizes[0].isdisjoint(sizes[1])


def _sure_names(case: Case) -> list[str]:
    """Of a server that compares names."""
    if case.base != names.EXPERTS_BY_VARIABLE or case.open_ended or case.option("--config") is not None:
        return []
    if is_in_lines(HOSTED, case.script.lines, _LONGEST):
        return []
    return names_of_server(case)


def _of_name(case: Case, call: ClientCall, asked: str, known: str) -> Remark:
    message = f"{case.script.where(call.line)}: the client asks for {shortened(asked, 60)}, and the server is called "
    message += f"{shortened(known, 60)}: it answers 404"
    remedy = f"ask for {shortened(known, 60)}, or add --served-model-name {shortened(asked, 60)}"
    remark = make_remark(Severity.WARNING, Code.MODEL_NAME, "model", message, remedy)
    return replace(remark, command=None)


@lru_cache(maxsize=8)
def _generators(lines: tuple[str, ...]) -> tuple[_Generator, ...]:
    """With the lines that go on behind a backslash."""
    found = []
    for number, line in enumerate(lines, 1):
        match = _GENERATOR.search(line[:_LONGEST])
        if match is None or line.lstrip().startswith("#"):
            continue
        text, last = line[match.start() : _LONGEST], number
        while text.rstrip().endswith("\\") and last < min(len(lines), number + _MOST):
            text = text.rstrip()[:-1] + " " + lines[last][:_LONGEST]
            last += 1
        found.append(_Generator(match["name"], number, text))
    return tuple(found)
