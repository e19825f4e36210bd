"""How the machines of a Ray cluster find each other, and what the engine on the first of them asks of it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.surrounding_names import OF_RAY_NODE
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_PORT: Final = 6379
_MOST: Final = 50
_IP: Final = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_PORT_BEHIND: Final = re.compile(r"[^\n]{1,300}[^\d:\n]:(\d{4,5})")
_HERE: Final = ("0.0.0.0", "127.0.0.1", "localhost")  # noqa: S104 a value that is warned of
_OPTIONS: Final = frozenset(
    re.findall(
        r"--[a-z-]+",
        "--address --autoscaling-config --block --dashboard-agent-grpc-port --dashboard-agent-listen-port "
        "--dashboard-grpc-port --dashboard-host --dashboard-port --disable-usage-stats --enable-object-reconstruction "
        "--enable-resource-isolation --enable-usage-stats --gcs-server-port --head --help --include-dashboard "
        "--include-log-monitor --labels --labels-file --log-color --log-style --max-worker-port --memory "
        "--metrics-export-port --min-worker-port --no-redirect-output --node-ip-address --node-manager-port "
        "--node-name --num-cpus --num-gpus --num-redis-shards --object-manager-port --object-spilling-directory "
        "--object-store-memory --plasma-directory --plasma-store-socket-name --port --ray-client-server-port "
        "--ray-debugger-external --raylet-socket-name --redis-max-clients --redis-max-memory --redis-password "
        "--redis-shard-ports --redis-username --resources --runtime-env-agent-port --storage --system-config "
        "--system-reserved-cpu --system-reserved-memory --temp-dir --tracing-startup-hook --verbose "
        "--worker-port-list ",
    )
)
"""Of `ray start`. Others are judged only where they are all but one of these."""


def ray_joins(case: Case) -> Iterator[Remark]:
    """One remark of the starts of the cluster that stand in the text."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    starts = [
        each for each in script.commands if each.program == "ray" and each.argv[:1] and each.argv[0].text == "start"
    ]
    nodes = [(node, _options(node)) for node in starts[:_MOST]]
    heads = [(node, given) for node, given in nodes if "--head" in given]
    others = [(node, given) for node, given in nodes if "--head" not in given]
    found = next(_misspelt(case, nodes), None) or next(_of_heads(case, heads), None)
    if found is None and len(heads) == 1:
        found = next(_of_others(case, heads[0], others), None)
    if found is None:
        found = next(_own_addresses(case, [node for node, _ in nodes]), None)
    if found is not None:
        yield found


def _options(node: Command) -> Mapping[str, str]:
    """Names of options → their values, "" for a switch."""
    given: dict[str, str] = {}
    words = [word.text for word in node.argv[1:]]
    for at, word in enumerate(words):
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            follows = words[at + 1] if at + 1 < len(words) and not words[at + 1].startswith("-") else ""
            given[name] = value if equals else follows
    return given


def _misspelt(case: Case, nodes: Sequence[tuple[Command, Mapping[str, str]]]) -> Iterator[Remark]:
    for node, given in nodes:
        for name in given:
            near = difflib.get_close_matches(name.replace("_", "-"), _OPTIONS, n=1, cutoff=0.8)
            if name not in _OPTIONS and near:
                message = f"{case.script.where(node.line)}: ray start has no option {shortened(name)}, and ends"
                yield _said(Code.UNKNOWN_FLAG, name, message, f"write {near[0]}")


def _of_heads(case: Case, heads: Sequence[tuple[Command, Mapping[str, str]]]) -> Iterator[Remark]:
    for node, given in heads:
        if given.get("--address"):
            message = (
                f"{case.script.where(node.line)}: --head starts a cluster of its own, and --address joins another: "
            )
            yield _said(
                Code.CONFLICT, "--head", f"{message}ray start refuses both", "leave --head out on other machines"
            )


def _of_others(
    case: Case, head: tuple[Command, Mapping[str, str]], others: Sequence[tuple[Command, Mapping[str, str]]]
) -> Iterator[Remark]:
    port = head[1].get("--port", str(_PORT))
    at_head = _own(head[0], head[1])
    for node, given in others:
        address, where = given.get("--address", ""), case.script.where(node.line)
        if not address or address == "auto":
            continue
        if unresolved(address):
            joined = _PORT_BEHIND.fullmatch(address)  # `$HEAD_IP:6380`: the port is written
            if joined is not None and whole(port) and joined[1] != port:
                message = (
                    f"{where}: it joins at port {joined[1]}, and the head listens on {port}: it waits, and gives up"
                )
                yield _said(Code.CONFLICT, "--address", message, f"write port {port}")
            continue
        host, colon, its_port = address.rpartition(":")
        if not colon:
            message = f"{where}: the address of a Ray cluster is host:port, and {shortened(address)} has no port"
            yield _said(Code.INVALID_VALUE, "--address", message, f"write {shortened(address)}:{port}")
        elif whole(its_port) and whole(port) and its_port != port:
            message = f"{where}: it joins at port {its_port}, and the head listens on {port}: it waits, and gives up"
            yield _said(Code.CONFLICT, "--address", message, f"write port {port}")
        elif host == _own(node, given) and at_head != host and _IP.fullmatch(host):
            message = f"{where}: it joins at {host}, its own address, where no head is"
            yield _said(
                Code.CONFLICT, "--address", message, f"write the address of the head{f', {at_head}' if at_head else ''}"
            )


def _own_addresses(case: Case, nodes: Sequence[Command]) -> Iterator[Remark]:
    if len(nodes) < 2:
        return
    seen: dict[str, int] = {}
    for node in nodes:
        word = node.env.get(OF_RAY_NODE)
        value = word.text.removeprefix(f"{OF_RAY_NODE}=").strip("'\"") if word is not None else ""
        if word is None or word.unresolved or not value or unresolved(value):
            continue
        where = case.script.where(word.line)
        if value in _HERE:
            message = f"{where}: {value} is every machine itself, and the others cannot reach it there by that"
            yield _said(Code.INVALID_VALUE, OF_RAY_NODE, message, "write the address of this machine")
        elif value in seen and word.line != seen[value] and _IP.fullmatch(value):
            message = (
                f"{where}: {value}, as in {case.script.where(seen[value])}: each machine needs an address of its own "
            )
            yield _said(
                Code.CONFLICT,
                OF_RAY_NODE,
                f"{message}(Every node should have a unique IP address)",
                "write its own one",
            )
        seen.setdefault(value, word.line)


def _own(node: Command, given: Mapping[str, str]) -> str:
    word = node.env.get(OF_RAY_NODE)
    return given.get("--node-ip-address", "") or (
        word.text.removeprefix(f"{OF_RAY_NODE}=").strip("'\"") if word else ""
    )


def _said(code: Code, where: str, message: str, remedy: str) -> Remark:
    return replace(make_remark(Severity.WARNING, code, where, message, remedy), command=None)


def fewer_in_cluster(case: Case) -> Iterator[Remark]:
    """`ray start --num-gpus` of all machines together, and an engine that asks for more ranks."""
    script = case.script
    if (
        not is_first_server(case.commands, script)
        or not case.laid_out
        or case.text(names.EXECUTOR).strip("'\"") != "ray"
    ):
        return
    starts = [
        each for each in script.commands if each.program == "ray" and each.argv[:1] and each.argv[0].text == "start"
    ]
    nodes = [_options(node) for node in starts[:_MOST]]
    counts = [whole(given.get("--num-gpus", "")) for given in nodes]
    machines = case.cluster.nodes if case.cluster is not None else 0
    if None in counts or len(nodes) != machines or len(nodes) < 2 or sum("--head" in given for given in nodes) != 1:
        return
    devices, ranks = sum(count or 0 for count in counts), case.first.layout.world_size
    if devices < ranks:
        message = f"the machines here give Ray {devices} devices, and the engine asks it for {ranks}: it waits for the "
        remedy = "give ray start on each machine all its devices, or make the layout smaller"
        yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, "--num-gpus", f"{message}others", remedy)
