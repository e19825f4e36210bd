"""An independent look at the world: /proc, the ports, the endpoint itself, and the state files as bytes.

Nothing here is moonpad's. What judges `status` must not share a mistake with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import json
import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ASK_LIMIT_S = 1.0
DEAD = "ZX"
FINAL = ("stopped", "failed")

TITLES = {"engine core": "VLLM::Engine", "worker": "VLLM::Worker"}
VICTIMS = ("API server", *TITLES, "keeper", "controller")

Identity = tuple[int, int]
"""pid and start time: a recycled pid is another process."""


@dataclass(frozen=True, slots=True)
class Process:
    """`start` in clock ticks since boot; `name` is what it calls itself, at most 15 bytes."""

    pid: int
    start: int
    parent: int
    state: str
    name: str

    @property
    def identity(self) -> Identity:
        return self.pid, self.start

    @property
    def command(self) -> str:
        with contextlib.suppress(OSError):
            return Path(f"/proc/{self.pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        return ""


Table = Mapping[int, Process]


def processes() -> dict[int, Process]:
    """Every process of the machine, zombies too."""
    table = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - a hundred times a second
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:  # noqa: PTH123
                head, _, tail = file.read().rpartition(b") ")
        except OSError:
            continue
        rest = tail.split()
        name = head.partition(b"(")[2].decode(errors="replace")
        table[int(entry)] = Process(int(entry), int(rest[19]), int(rest[1]), rest[0].decode(), name)
    return table


def below(roots: Iterable[int], table: Table) -> dict[int, Process]:
    """The living processes below the roots, the roots left out."""
    children: dict[int, list[Process]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process)
    descendants: dict[int, Process] = {}
    queue = list(roots)
    while queue:
        for child in children.get(queue.pop(), ()):
            if child.pid not in descendants:
                descendants[child.pid] = child
                queue.append(child.pid)
    return {pid: process for pid, process in descendants.items() if process.state not in DEAD}


def lives(identity: Identity | None, table: Table) -> bool:
    process = table.get(identity[0]) if identity else None
    return process is not None and process.identity == identity and process.state not in DEAD


def listening(port: int) -> set[str]:
    """The inodes of the sockets that listen on this port, of whatever address."""
    inodes = set()
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(path).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                    inodes.add(fields[9])
    return inodes


def holds(pid: int, inodes: set[str]) -> bool:
    """Whether the process has one of these sockets open."""
    wanted = {f"socket:[{inode}]" for inode in inodes}
    with contextlib.suppress(OSError):
        for entry in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{entry}") in wanted:  # noqa: PTH115
                    return True
    return False


def health(port: int) -> int:
    """The status of `/health`, 0 where nothing answers."""
    return _ask(port, "GET", "/health", None)[0]


def token(port: int, model: str) -> bool:
    """Whether one real token comes back."""
    status, body = _ask(port, "POST", "/v1/completions", {"model": model, "prompt": "Hi", "max_tokens": 1})
    if status != 200:
        return False
    with contextlib.suppress(ValueError, KeyError, IndexError, TypeError):
        return isinstance(json.loads(body)["choices"][0]["text"], str)
    return False


def _ask(port: int, method: str, path: str, body: object) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ASK_LIMIT_S)
    try:
        data = json.dumps(body) if body is not None else None
        connection.request(method, path, data, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def served(port: int) -> bool:
    """Whether somebody takes connections there."""
    with socket.socket() as sock:
        sock.settimeout(ASK_LIMIT_S)
        return sock.connect_ex(("127.0.0.1", port)) == 0


def is_held(lock: Path) -> bool:
    """Whether somebody holds the lock on this file."""
    try:
        handle = os.open(lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


# --- runs ------------------------------------------------------------------------------------------------------------


def document(path: Path) -> dict[str, Any]:
    """The JSON object in the file, {} where there is no file.

    Raises:
        ValueError: what stands there is no JSON object.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return {}
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ValueError(f"no object: {text[:80]!r}")
    return document


def identity_of(entry: object) -> Identity | None:
    return (entry["pid"], entry["start"]) if isinstance(entry, dict) and entry.get("pid") else None


@dataclass(frozen=True)
class Run:
    """What a run's files say, and what of it lives at one look. `engine` leaves keeper and controller out."""

    name: str
    path: Path
    port: int
    model: str
    recorded: str
    """The state in keeper.json."""
    keeper: Identity | None
    controller: Identity | None
    keeper_lives: bool
    controller_lives: bool
    engine: frozenset[Identity]
    processes: tuple[Process, ...]
    """Those of `engine`."""
    roots: frozenset[Identity] = frozenset()
    """The API server is the root of its engine."""
    adrift: frozenset[Identity] = frozenset()
    """Those of `engine` that a living keeper neither has below it nor has written down."""
    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        return not self.keeper_lives and not self.engine


def run_at(name: str, path: Path, table: Table) -> Run:
    """The run's is what lives of what its keeper wrote down, everything below those and below the keeper, and whoever
    works in the run's folder or writes to its log."""
    about, kept = document(path / "run.json"), document(path / "keeper.json")
    keeper, controller = identity_of(kept.get("keeper")), identity_of(kept.get("controller"))
    keeper_lives = lives(keeper, table)
    noted = {identity for entry in kept.get("owned", ()) if (identity := identity_of(entry)) and lives(identity, table)}
    roots = frozenset(
        identity for entry in kept.get("roots", ()) if (identity := identity_of(entry)) and lives(identity, table)
    )
    start_at = {pid for pid, _ in noted | roots} | ({keeper[0]} if keeper and keeper_lives else set())
    owned = {table[pid].identity for pid, _ in noted | roots}
    owned |= {process.identity for process in below(start_at, table).values()}
    marked = {process.identity for process in below({os.getpid()}, table).values() if works_in(process, path)}
    everything = [table[pid] for pid, _ in sorted(owned | marked) if not is_moonpad(table[pid])]
    engine = frozenset(process.identity for process in everything) - {keeper, controller}
    port = int(str(about.get("base_url", "")).removesuffix("/v1").rpartition(":")[2] or 0)
    return Run(
        name,
        path,
        port,
        str(about.get("served_name", "")),
        str(kept.get("state", "")),
        keeper,
        controller,
        keeper_lives,
        lives(controller, table),
        engine,
        tuple(process for process in everything if process.identity in engine),
        roots,
        (engine - owned) if keeper_lives else frozenset(),
        kept,
    )


def is_moonpad(process: Process) -> bool:
    """Whether it is the keeper or the controller of a run, by its command."""
    command = process.command
    return "moonpad/run/keeper/" in command or "moonpad.run.controller" in command


def works_in(process: Process, folder: Path) -> bool:
    """Nobody else has a reason to, and a detached process that no file names can still be known by it."""
    for link in ("cwd", "fd/1", "fd/2"):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{process.pid}/{link}").startswith(f"{folder}"):  # noqa: PTH115
                return True
    return False


def current(state: Path, name: str, table: Table) -> Run | None:
    """The run that the name points to."""
    run = document(state / "endpoints" / f"{name}.json").get("run")
    return run_at(name, state / "runs" / run, table) if run else None


def runs(state: Path, table: Table) -> list[Run]:
    """Every run folder, oldest first."""
    folders = sorted((state / "runs").glob("*"), key=lambda path: path.stat().st_mtime_ns)
    return [run_at(str(document(path / "run.json").get("name", "")), path, table) for path in folders]


def victims(current: Mapping[str, Run], what: str) -> list[tuple[str, int]]:
    """(name of the endpoint, pid) of the living processes of a kind, one of VICTIMS."""
    targets: list[tuple[str, int]] = []
    for name, run in sorted(current.items()):
        if what == "keeper":
            targets += [(name, run.keeper[0])] if run.keeper and run.keeper_lives else []
        elif what == "controller":
            targets += [(name, run.controller[0])] if run.controller and run.controller_lives else []
        elif what == "API server":
            targets += [(name, pid) for pid, _ in sorted(run.roots)]
        else:
            targets += [(name, process.pid) for process in run.processes if process.name.startswith(TITLES[what])]
    return targets


def reap() -> None:
    """Orphans end up with a subreaper, and a zombie that nobody collects keeps its pid. Nothing else may be awaited."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
