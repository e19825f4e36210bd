"""Ways from elsewhere to the server: a tunnel of ssh, a container that asks its own localhost, conda's environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import is_shown_to_fail, own_port
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_TUNNEL: Final = re.compile(
    r"\bssh\b.*?\s-[A-Za-z]*L[ ]*(?:[\w.*]+:)?\d{2,5}:(?:localhost|127\.0\.0\.1):(?P<port>\d{2,5})\b"
)
_BESIDE: Final = re.compile(r"nginx|proxy|router|gateway|litellm|docker[ ]run|-p[ ]\d+:|haproxy|grafana|jupyter", re.I)
_RUN: Final = re.compile(r"\b(?:docker|podman)[ ]run\b")
_ASKS: Final = re.compile(
    r"(?:-e|--env)[ =]+[\"']?(?P<name>\w*(?:URL|BASE|ENDPOINT|HOST)\w*)=[\"']?https?://"
    r"(?:localhost|127\.0\.0\.1):(?P<port>\d{2,5})"
)
_HOST: Final = re.compile(r"--net(?:work)?[ =]+[\"']?(?:host|container:)")
_CREATES: Final = re.compile(r"\b(?:conda|mamba|micromamba)[ ]+create\b.*?(?:\s-n[ ]*|\s--name[ =]+)(?P<name>[\w.-]+)")
_ACTIVATES: Final = re.compile(r"\b(?:conda|mamba|micromamba|source)[ ]+activate[ ]+(?P<name>[\w.-]+)[ ]*(?:$|[;&#])")
_MOST: Final = 25


def target_of_tunnel(case: Case) -> Iterator[Remark]:
    """`ssh -L 8000:localhost:8080 gpu` to a server that listens on 8000."""
    port, script = own_port(case), case.script
    if not port or not is_one_group(case) or case.open_ended or is_in_lines(_BESIDE, script.lines, 1000):
        return
    found = [
        (number, match["port"])
        for number, text in numbered(script, 1, len(script.lines))
        if (match := _TUNNEL.search(text)) and not text.lstrip().startswith("#")
    ]
    if len(found) != 1 or found[0][1] == port or is_shown_to_fail(case, found[0][0]):
        return
    number, asked = found[0]
    message = f"{script.where(number)}: the tunnel ends at port {asked} there, and the server listens on {port}"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, "-L", message, f"write …:localhost:{port}")
    yield replace(remark, command=None)


def localhost_of_container(case: Case) -> Iterator[Remark]:
    """`docker run -e OPENAI_API_BASE_URL=http://localhost:8000/v1 …` beside a server on the machine."""
    port, script = own_port(case), case.script
    if not port or not is_one_group(case):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    for at, (number, text) in enumerate(lines):
        if not _RUN.search(text) or text.lstrip().startswith("#"):
            continue
        whole, last = text, at
        while whole.rstrip().endswith("\\") and last + 1 < len(lines) and last < at + _MOST:
            last += 1
            whole = f"{whole.rstrip()[:-1]} {lines[last][1]}"
        match = _ASKS.search(whole)
        if match is None or match["port"] != port or _HOST.search(whole) or is_shown_to_fail(case, number):
            continue
        if any(number <= command.line <= number + last - at for command in case.commands):
            continue
        message = (
            f"{script.where(number)}: localhost in {match['name']} is the container itself, where nothing listens "
        )
        message += f"on {port}: connection refused"
        remedy = "give the container the network of the host, or write the address of the machine in its place"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, match["name"], message, remedy)
        yield replace(remark, command=None)
        return


def environment_not_made(case: Case) -> Iterator[Remark]:
    """`conda create -n kimi` and below it `conda activate k2`."""
    script = case.script
    if not is_first_server(case.commands, script) or not is_in_lines(_CREATES, script.lines, 1000):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    made = {match["name"]: number for number, text in lines if (match := _CREATES.search(text))}
    used = [(number, match["name"]) for number, text in lines if (match := _ACTIVATES.search(text))]
    if (
        len(made) != 1
        or len({name for _, name in used}) != 1
        or any("$" in text for _, text in lines if "create" in text)
    ):
        return
    ((name, first),) = made.items()
    number, other = used[0]
    if other in (name, "base", "root") or not first < number < first + _MOST:
        return
    if sum(re.search(rf"(?<![\w-]){re.escape(other)}(?![\w-])", text) is not None for _, text in lines) > 1:
        return
    message = f"{script.where(number)}: {script.where(first)} makes the environment {shortened(name, 40)}, and "
    message += f"nothing makes {shortened(other, 40)}: the activation fails"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, "activate", message, f"activate {shortened(name, 40)}")
    yield replace(remark, command=None)
