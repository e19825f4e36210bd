"""Two containers of one machine, of a Compose file or a script: the ports that they publish, and their devices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from yaml import Node

from moonpad.engines.surrounding_names import CHOOSE_DEVICES
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.containers.compose_files import compose_files
from moonpad.explain.checks.manifests.pod_objects import fields_of, items_of, text_of
from moonpad.explain.checks.nodes.side_by_side import BACKGROUND, ENDS, FENCE, MACHINES, share_of, together
from moonpad.explain.commands import Command, Wrapper
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity

_PUBLISHED: Final = re.compile(r"(?:(?P<address>[\d.]+):)?(?P<port>\d{1,5}):\d{1,5}(?:/tcp)?")
_EVERYWHERE: Final = ("", "0.0.0.0")  # noqa: S104 what is written, not what is bound
_ADDRESS: Final = re.compile(
    r"[ \t]*#.*\b(?:\d{1,3}(?:\.\d{1,3}){3}|or\b|option|alternativ|either|variant|instead)", re.I
)
"""A comment between two commands that names another machine, or says that one of them is meant."""
_TENSOR: Final = ("--tensor-parallel-size", "-tp", "--tp-size", "--tp")
_MORE_RANKS: Final = (
    "--pipeline-parallel-size",
    "-pp",
    "--data-parallel-size",
    "-dp",
    "--dp-size",
    "--dp",
    "--pp-size",
)
_CHOOSES: Final = ("--base-gpu-id", "--device", "--gpu-id-step", "--nnodes", "--data-parallel-rank", "--headless")
_NEAREST: Final = 8
_GPUS: Final = "--gpus"
_NAME: Final = "--name"


def one_published_port(case: Case) -> Iterator[Remark]:
    """`-p 8000:8000` of two containers: the machine has the port once."""
    command = case.commands[0]
    mine = _published(command)
    for other in _beside(case, servers=False) if mine else ():
        common = next((port for port in _published(other) for own in mine if _meet(own, port)), None)
        if common is None:
            continue
        container = command.container
        given = container.given("--publish") if container is not None else []
        word = next((each.words[-1] for each in given if each.words and common[1] in (each.value or "")), None)
        message = f"the container of {case.script.where(other.line)} publishes port {common[1]} of this machine too: "
        message += "port is already allocated, and this one does not start"
        remedy = f"publish one of them at another port, as in {int(common[1]) + 1}:…"
        yield make_remark(Severity.WARNING, Code.CONFLICT, f"-p {common[1]}", message, remedy, word=word)
        return


def containers_on_one_device(case: Case) -> Iterator[Remark]:
    """`gpus: all` or `count: 1` for two servers, each of which takes most of the memory of the first device."""
    command = case.commands[0]
    mine = _devices(command, case)
    for other in _beside(case, servers=True) if mine else ():
        shares = [share_of(each) for each in (command, other)]
        common = sorted(mine & _devices(other, case))
        if not common or None in shares or sum(share for share in shares if share is not None) <= 1:
            continue
        shown = ", ".join(map(str, common))
        message = f"the server of {case.script.where(other.line)} takes most of device {shown}, which this one begins "
        message += "with too: a count of devices, or all, gives each container the same first ones"
        remedy = "give each its own device_ids, or smaller shares of the memory"
        if command.container is not None and command.container.words:
            remedy = f"""give each its own, as in {_GPUS} '"device=1"', or smaller shares of the memory"""
        yield make_remark(Severity.WARNING, Code.CONFLICT, _GPUS, message, remedy)
        return


def one_container_name(case: Case) -> Iterator[Remark]:
    """`docker run -d --name llm` twice, each with ports or devices of its own: a name is in use until it is removed."""
    command = case.commands[0]
    container = _own(command)
    name = (container.value(_NAME) or "") if container is not None else ""
    for other in _beside(case, servers=False, namesakes=True) if name and not unresolved(name) else ():
        mine, its = ({port for _, port in _published(each)} for each in (command, other))
        if not mine or not its or mine & its:
            continue  # the one may be meant in the place of the other
        given = container.given(_NAME) if container is not None else []
        word = next((each.words[-1] for each in given if each.words), None)
        message = (
            f"the container of {case.script.where(other.line)} is called {shortened(name, 40)} too, and runs: the "
        )
        message += "name is already in use, and this one does not start"
        remedy = f"give it a name of its own, as {shortened(name, 40)}-2"
        yield make_remark(Severity.WARNING, Code.CONFLICT, f"{_NAME} {name}", message, remedy, word=word)
        return


def _beside(case: Case, *, servers: bool, namesakes: bool = False) -> Iterator[Command]:
    """The containers above that run when this one starts."""
    command, script = case.commands[0], case.script
    container = _own(command)
    if container is None or script.objects or len(case.commands) > 1 or (case.first.node.nodes or 1) > 1:
        return
    if len(script.commands) > 200:
        return
    of_compose, name = not container.words, script.place(command.line)[0]
    above = [each for each in script.commands if each.line < command.line]
    for other in above[-_NEAREST:]:
        its = _own(other)
        if its is None or (servers and not is_server(other.program)) or script.place(other.line)[0] != name:
            continue
        if of_compose is bool(its.words) or not together(command.arms, other.arms):
            continue
        last = max((word.end_line for word in other.words), default=other.line)
        between = [text for _, text in numbered(script, last + 1, command.line - 1)]
        if script.markdown and any(FENCE.match(text) for text in between):
            continue
        both = _are_both(case, command, other) if of_compose else _both_run(case, its, between, last)
        alike = container.value(_NAME) == its.value(_NAME)
        if both and (alike and not of_compose if namesakes else of_compose or _are_named(container, its)):
            yield other


def _own(command: Command) -> Wrapper | None:
    """The container that the command is the only program of."""
    container = command.container
    if container is None or container.kind != "docker run" or command.wrappers[-1] is not container:
        return None
    return None if is_fragment(command) or command.custom or container.value("--network") == "host" else container


def _are_named(mine: Wrapper, its: Wrapper) -> bool:
    """Whether each has a name of its own: those of one name are read as alternatives."""
    names = [each.value(_NAME) or "" for each in (mine, its)]
    return all(names) and names[0] != names[1] and not any(map(unresolved, names))


def _both_run(case: Case, its: Wrapper, between: list[str], last: int) -> bool:
    """Containers of a script, the first of which goes on by itself."""
    lines = case.script.lines
    goes_on = its.has("--detach") or (0 < last <= len(lines) and BACKGROUND.search(lines[last - 1][-200:]) is not None)
    return goes_on and not any(ENDS.search(text) or MACHINES.search(text) or _ADDRESS.match(text) for text in between)


def _are_both(case: Case, mine: Command, its: Command) -> bool:
    """Services of one file that no profile tells apart."""
    services = [service for each in (mine, its) if (service := _service(case, each)) is not None]
    return len(services) == 2 and not any("profiles" in each for each in services)


def _service(case: Case, command: Command) -> Mapping[str, Node] | None:
    for first, _, services in compose_files(case.script):
        at = command.line - first
        for fields in services.values():
            if any(node.start_mark.line <= at <= node.end_mark.line for node in fields.values()):
                return fields
    return None


def _published(command: Command) -> list[tuple[str, str]]:
    container = _own(command)
    found = map(_PUBLISHED.fullmatch, container.values("--publish")) if container is not None else ()
    return [(match["address"] or "", match["port"]) for match in found if match is not None]


def _meet(one: tuple[str, str], two: tuple[str, str]) -> bool:
    return one[1] == two[1] and (one[0] == two[0] or one[0] in _EVERYWHERE or two[0] in _EVERYWHERE)


def _devices(command: Command, case: Case) -> set[str]:
    """The first of those that it is given, as many as it has ranks; empty where they are not known."""
    container = _own(command)
    if container is None or command.more or not is_server(command.program):
        return set()
    if any(name in command.env for name in (*CHOOSE_DEVICES, "NVIDIA_VISIBLE_DEVICES")):
        return set()
    if any(value_of(command.argv, (flag,)) is not None for flag in (*_MORE_RANKS, *_CHOOSES)):
        return set()
    word = value_of(command.argv, _TENSOR)
    text = word.text.rpartition("=")[2] if word is not None else "1"
    ranks = int(text) if text.isascii() and text.isdigit() and len(text) < 3 else 0
    given = (container.value(_GPUS) or "").strip("'\"")
    if given == "all" or given.isdigit():
        named = [] if container.words else _named(case, command)
        return {*named[:ranks]} if named else {str(each) for each in range(ranks)}
    known = given.startswith("device=") and not unresolved(given)
    return {*given[7:].split(",")[:ranks]} if known else set()


def _named(case: Case, command: Command) -> list[str]:
    """`device_ids` of a service."""
    place: Node | None = (_service(case, command) or {}).get("deploy")
    for key in ("resources", "reservations", "devices"):
        place = fields_of(place).get(key)
    return [
        shortened(text, 40)
        for device in items_of(place)
        for text in map(text_of, items_of(fields_of(device).get("device_ids")))
    ]
