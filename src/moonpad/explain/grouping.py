"""Which commands are pieces of one deployment.

The ranks of one engine run on several nodes, and a guide gives each node its command. Prefill and decode servers are
deployments of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from typing import Final

from msgspec import Struct

from moonpad.engines.value_checks import unresolved
from moonpad.explain.commands import Command, Word
from moonpad.explain.documents.node_labels import node_in
from moonpad.explain.programs import program_named
from moonpad.values.records import replace

_KINDS: Final = {"lm_eval": "client", "ray": "ray", "docker": "container", "fragment": "fragment"}
"""Of the programs that do not belong to an engine."""

ADDRESS: Final = (
    *("--dist-init-addr", "--nccl-init-addr", "--nccl-init", "--master-addr", "--data-parallel-address", "-dpa"),
)
"""Where the ranks meet."""
_SAME: Final = (
    ("--model", "--model-path"),
    ("--nnodes",),
    ADDRESS,
    ("--tensor-parallel-size", "-tp", "--tp-size", "--tp"),
    ("--pipeline-parallel-size", "-pp", "--pp-size", "--pp"),
    ("--data-parallel-size", "-dp", "--dp-size", "--dp"),
    ("--served-model-name",),
)
"""Flags whose values agree on all ranks of a deployment, where they are given. Ranks that are numbered, and
ranks without an API server behind the one that has it, may name other addresses by mistake."""
_NODES: Final = 1
"""Which of them counts the nodes."""
_MEETING: Final = 2
"""Which of them is the address."""
_FIRST_RANK: Final = ("--data-parallel-start-rank", "-dpr")
_RANK: Final = ("--node-rank", "-r", "--data-parallel-start-rank", "-dpr", "--data-parallel-rank", "-dpn")
_STANDS_IN: Final = re.compile(r"[xX]{2,}(?:\.[xX]+)*|\{.*")
"""`xxxx` and `{ node0 ip }`."""
_ROLE: Final = re.compile(r'"kv_role"\s*:\s*"kv_(producer|consumer)"')


class Group(Struct, frozen=True):
    """Commands that run together. `kind`: serve, prefill, decode, router, client, ray, container, fragment."""

    commands: tuple[Command, ...]
    kind: str


def group(commands: Iterable[Command]) -> tuple[Group, ...]:
    """In the order of their first commands; commands of unknown programs are left out.

    A fragment is its own group: its caller gives it a program. A benchmark in a loop is one group, whatever server is
    started in each pass before it.
    """
    groups: list[list[Command]] = []
    servers: list[Command] = []
    clients: dict[tuple[str, tuple[int, int]], list[Command]] = {}
    last_server: _Server | None = None
    met: set[str] = set()
    for command in commands:
        kind = _kind(command)
        if command.program == "other":
            continue
        server = _Server(command) if kind == "server" else None
        line = (command.program, (command.argv[0].line, command.argv[0].column)) if command.argv else None
        if kind == "client" and line in clients:
            clients[line].append(command)
        elif server is not None and last_server is not None and last_server.takes(server, met):
            servers.append(command)
        else:
            groups.append([command])
            if server is not None:
                servers, last_server = groups[-1], server
            elif kind == "client" and line is not None:
                clients[line] = groups[-1]
        if server is not None and (address := server.values[_MEETING]) is not None:
            met.add(address.text)
    return tuple(Group(tuple(members), role_of(members[0])) for members in groups)


def _kind(command: Command) -> str:
    """server, client, router, ray, container or fragment."""
    program = program_named(command.program)
    return program.kind if program else _KINDS.get(command.program, "server")


def value_of(argv: Sequence[Word], names: Sequence[str]) -> Word | None:
    """The last value given to a flag under one of its names, `--name value` or `--name=value`, with - or _."""
    for at, word in reversed(tuple(enumerate(argv))):
        name, equals, value = word.text.partition("=")
        if (name.replace("_", "-") if name.startswith("--") else name) in names:
            following = argv[at + 1] if at + 1 < len(argv) else None
            return replace(word, text=value) if equals else following
    return None


def model_of(command: Command) -> str | None:
    """What is served, as written: `--model`, or the first argument."""
    if command.argv and not command.argv[0].text.startswith("-"):
        return command.argv[0].text
    value = value_of(command.argv, ("--model", "--model-path"))
    return value.text if value else None


class _Server:
    """A command that serves, and the ranks that belong to it. Each command is looked through once."""

    def __init__(self, command: Command) -> None:
        self.same = (command.program, role_of(command), model_of(command))
        self.values = [value_of(command.argv, names) for names in _SAME]
        self.heading = command.heading
        port = value_of(command.argv, ("--port",))
        self.port = port.text if port is not None and not port.unresolved else ""
        self.places = {_place(command)}
        self.explicit = _rank(command) is not None or _headless(command)
        self.follows = _headless(command) and value_of(command.argv, _FIRST_RANK) is not None

    def takes(self, other: _Server, met: Set[str] = frozenset()) -> bool:
        """Whether the other is one more rank: the same engine, model and layout, and a place that none of them has.
        `met`: addresses at which servers above wait, so that it may be one of those."""
        if self.same != other.same or self.places & other.places:
            return False
        numbered = self.explicit and other.explicit and self.values[_NODES] and other.values[_NODES]
        for names, value, its in zip(_SAME, self.values, other.values, strict=True):
            differ = value and its and not (_is_open(value) or _is_open(its)) and value.text != its.text
            alone = other.follows and its is not None and its.text not in met
            if differ and not (names is ADDRESS and (numbered or alone)):
                return False
        if not (self.explicit or other.explicit or self.heading == other.heading):
            return False
        if not (self.explicit or other.explicit) and self.port and other.port and self.port != other.port:
            return False  # each answers by itself
        self.places |= other.places
        self.explicit |= other.explicit
        return True


def _is_open(word: Word) -> bool:
    """Whether something stands in for the value, which may be that of the other rank."""
    return bool(word.unresolved) or unresolved(word.text) or _STANDS_IN.fullmatch(word.text) is not None


def _place(command: Command) -> tuple[str, str]:
    """What distinguishes the ranks of a deployment. The node is the one in the comment above."""
    rank = _rank(command)
    if rank is not None and rank.text == "0" and _headless(command) and value_of(command.argv, _FIRST_RANK):
        return "headless", "0"  # the first machine has an API server: this one has the wrong number
    if rank is not None:
        # Passes of a loop have ranks that are not known, `$((NODE * 8 + i))`, and ports that are.
        port = value_of(command.argv, ("--port",)) if rank.unresolved else None
        return "rank", rank.text if port is None else f"{rank.text} at {port.text}"
    node = node_in(command.label or "")
    if _headless(command):
        return "headless", f"{node}"
    # Rank 0 is the command without a rank.
    return "rank", f"node {node}" if node else "0"


def _rank(command: Command) -> Word | None:
    return value_of(command.argv, _RANK)


def _headless(command: Command) -> bool:
    return any(word.text == "--headless" for word in command.argv)


def role_of(command: Command) -> str:
    """The kind of its group."""
    if (kind := _kind(command)) != "server":
        return kind
    mode = value_of(command.argv, ("--disaggregation-mode",))
    if mode is not None and mode.text in ("prefill", "decode"):
        return mode.text
    if any(word.text == "--is-prefill-worker" for word in command.argv):
        return "prefill"
    if any(word.text == "--is-decode-worker" for word in command.argv):
        return "decode"
    if command.label in ("prefill", "decode"):
        return command.label
    transfer = value_of(command.argv, ("--kv-transfer-config",))
    match = _ROLE.search(transfer.text) if transfer is not None else None
    return {"producer": "prefill", "consumer": "decode"}[match.group(1)] if match else command.role or "serve"
