"""What the fault tests ask of a run named `fake`: who lives, what was written down, what its clients see."""

from __future__ import annotations

import getpass
import http.client
import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from moonpad.facts.processes import find_descendants, is_alive
from moonpad.run.keeper.log_file import LOG_BYTES
from tests.conftest import Moonpad

NAME = "fake"
_BLOCK = 128 if "amx_tile" in Path("/proc/cpuinfo").read_text().split() else 16
PLANNED_KV_TOKENS = (1 << 30) // (4608 * _BLOCK) * _BLOCK
"""Of a gibibyte, in blocks of 16 tokens of 4,608 bytes; with AMX of 128."""
LOOK_S = 0.02
FINAL = ("stopped", "failed")
COMM = {"api": "VLLM::APIServer", "core": "VLLM::EngineCor", "worker": "VLLM::Worker_TP"}


# --- the spec --------------------------------------------------------------------------------------------------------


def set_launch(spec: Path, **values: str | int | bool) -> None:
    """Changes keys of `[launch]`, as the spec spells them: `set_launch(spec, restarts=3, restart_backoff="50ms")`."""
    text = spec.read_text()
    for name, value in values.items():
        line = f"{name} = {json.dumps(value)}"
        text, count = re.subn(rf"(?m)^{name} = .*$", line.replace("\\", r"\\"), text)
        if not count:
            text = text.replace("[launch]\n", f"[launch]\n{line}\n", 1)
        assert line in text, f"the spec has no [launch] for {name}"
    spec.write_text(text)


# --- who lives -------------------------------------------------------------------------------------------------------


def run_folder(moonpad: Moonpad) -> Path:
    """The current run's; where no name points to one yet (`up` is still starting it), the newest."""
    pointer = moonpad.state / "endpoints" / f"{NAME}.json"
    if pointer.exists():
        return moonpad.state / "runs" / str(json.loads(pointer.read_text())["run"])
    return max((moonpad.state / "runs").iterdir(), key=lambda path: path.stat().st_mtime)


def keeper_document(moonpad: Moonpad) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((run_folder(moonpad) / "keeper.json").read_text())
    return document


def job_of(folder: Path, argv: list[str], env: dict[str, str]) -> dict[str, Any]:
    """What a keeper is told on its standard input, of one process and no controller. The folder is made."""
    folder.mkdir(parents=True)
    process = {"name": "engine", "argv": argv, "env": env, "after_stop": [], "reattach": None}
    return {
        "run_dir": str(folder),
        "lock": f"{folder}.lock",
        "claims": [],
        "pointer": None,
        "holder": {"run": folder.name, "user": getpass.getuser(), "host": "far", "at": "now"},
        "grace_s": 2.0,
        "restarts": 0,
        "foreground_of": 0,
        "temp_base": "",
        "cgroup": False,
        "log_bytes": LOG_BYTES,
        "controller": None,
        "processes": [{**process, "log": str(folder / "engine.log")}],
    }


def owned_of(moonpad: Moonpad) -> dict[int, int]:
    """pid → start time of the run's processes as the keeper wrote them down, itself left out."""
    return {process["pid"]: process["start"] for process in keeper_document(moonpad)["owned"]}


def keeper_of(moonpad: Moonpad) -> tuple[int, int]:
    own = keeper_document(moonpad)["keeper"]
    return own["pid"], own["start"]


def controller_of(moonpad: Moonpad) -> tuple[int, int]:
    """The controller that the keeper started last."""
    own = keeper_document(moonpad)["controller"]
    assert own, "the keeper has no controller"
    return own["pid"], own["start"]


def everybody(moonpad: Moonpad) -> dict[int, int]:
    """pid → start time: the keeper, and what lives below it or stands in its file."""
    pid, start = keeper_of(moonpad)
    below = find_descendants({pid}) if is_alive(pid, start) else {}
    return {pid: start, **below, **owned_of(moonpad)}


def pids_of_role(moonpad: Moonpad, role: str) -> list[int]:
    """The engine's living processes that are "api", "core" or "worker": workers by rank, then by age.

    A core that was just forked is "api" until it has its own name.
    """
    matches = [
        (cmdline_of(pid) if role == "worker" else "", start, pid)
        for pid, start in everybody(moonpad).items()
        if is_alive(pid, start) and comm_of(pid).startswith(COMM[role])
    ]
    return [pid for _, _, pid in sorted(matches)]


def pid_of_role(moonpad: Moonpad, role: str) -> int:
    """The one of that role; of the workers, rank 0."""
    pids = pids_of_role(moonpad, role)
    assert pids, f"no {role} lives"
    return pids[0]


def comm_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def cmdline_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


# --- waiting ---------------------------------------------------------------------------------------------------------


def wait_until(holds: Callable[[], object], what: Callable[[], str], limit_s: float) -> float:
    """Seconds until it held. The limit is what was promised, or patience; no test asserts that it was quick."""
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < limit_s, f"after {limit_s:g} s: {what()}"
        time.sleep(LOOK_S)
    return time.monotonic() - begun


def await_gone(processes: dict[int, int], limit_s: float) -> float:
    def left() -> list[int]:
        return [pid for pid, start in processes.items() if is_alive(pid, start)]

    return wait_until(lambda: not left(), lambda: f"left are {[(pid, cmdline_of(pid)) for pid in left()]}", limit_s)


def events_of(moonpad: Moonpad, name: str = "") -> list[dict[str, Any]]:
    """The events of all runs by their time, or those of one name. A line that is being written is left out."""
    events = []
    for path in moonpad.state.glob("runs/*/events.jsonl"):
        whole = path.read_text().rpartition("\n")[0]
        events += [json.loads(line) for line in whole.splitlines()]
    return sorted((event for event in events if name in ("", event["event"])), key=lambda event: event["t_s"])


def await_event(moonpad: Moonpad, name: str, limit_s: float = 20.0, count: int = 1) -> dict[str, Any]:
    """The `count`th event of that name, waited for."""

    def what() -> str:
        return f"fewer than {count} {name!r} in {[event['event'] for event in events_of(moonpad)]}"

    wait_until(lambda: len(events_of(moonpad, name)) >= count, what, limit_s)
    return events_of(moonpad, name)[count - 1]


def status_of(moonpad: Moonpad) -> dict[str, Any]:
    """What `moonpad status` says of the run."""
    done = moonpad("status", "--json")
    assert done.code == 0, done.stderr
    row: dict[str, Any] = next(endpoint for endpoint in done.json["endpoints"] if endpoint["name"] == NAME)
    return row


def await_state(moonpad: Moonpad, state: str, limit_s: float = 20.0) -> dict[str, Any]:
    """What `moonpad status` says once that is the state."""
    last: dict[str, Any] = {}

    def holds() -> bool:
        last.update(status_of(moonpad))
        return bool(last["state"] == state)

    wait_until(holds, lambda: f"not {state} but {last['state']} ({last.get('because')})", limit_s)
    return last


def interrupt_after(moonpad: Moonpad, spec: Path, delay_s: float, **env: str) -> int:
    """The exit code of an `up` that gets Ctrl-C after so many seconds; it would be ready after some two."""
    running = moonpad.start("up", str(spec), **{"FAKE_LOAD_S": "1.5", **env})
    time.sleep(delay_s)
    os.killpg(running.pid, signal.SIGINT)
    running.communicate(timeout=30)
    return running.returncode


# --- clients ---------------------------------------------------------------------------------------------------------


@dataclass
class Stream:
    """One streamed request as its client saw it. `status` None: no answer. `finished`: [DONE] came, and no error."""

    status: int | None = None
    tokens: int = 0
    finished: bool = False
    error: str = ""
    usage: dict[str, int] = field(default_factory=dict)


class Streams:
    """Requests that are under way, each in a thread of its own."""

    def __init__(self, port: int, count: int, max_tokens: int, timeout_s: float, key: str) -> None:
        self.all = [Stream() for _ in range(count)]
        self._threads = [
            threading.Thread(target=_stream, args=(stream, port, max_tokens, timeout_s, key), daemon=True)
            for stream in self.all
        ]
        for thread in self._threads:
            thread.start()

    def wait(self, limit_s: float = 30.0) -> list[Stream]:
        """All of them, once they have ended, one way or the other."""
        until = time.monotonic() + limit_s
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        assert not any(thread.is_alive() for thread in self._threads), f"open after {limit_s:g} s: {self.all}"
        return self.all

    def await_tokens(self, least: int = 1, limit_s: float = 20.0) -> None:
        """Until each has so many."""
        wait_until(lambda: all(stream.tokens >= least for stream in self.all), lambda: str(self.all), limit_s)

    def await_answered(self, limit_s: float = 20.0) -> None:
        """Until each was taken in: how tokens are shared out among them is the scheduler's affair."""
        wait_until(lambda: all(stream.status for stream in self.all), lambda: str(self.all), limit_s)

    @property
    def tokens(self) -> int:
        return sum(stream.tokens for stream in self.all)

    @property
    def finished(self) -> int:
        return sum(stream.finished for stream in self.all)


def streams(port: int, n: int, max_tokens: int, *, timeout_s: float = 60.0, key: str = "") -> Streams:
    """Opens n streamed chats. `timeout_s` is a client's patience between two pieces of its answer."""
    return Streams(port, n, max_tokens, timeout_s, key)


def _stream(stream: Stream, port: int, max_tokens: int, timeout_s: float, key: str) -> None:
    body = {
        "messages": [{"role": "user", "content": "one two three"}],
        "max_tokens": max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        response = connection.getresponse()
        stream.status = response.status
        if response.status != 200:
            stream.error = response.read().decode(errors="replace")
            return
        for line in response:
            if line.startswith(b"data: "):
                _read_event(stream, line.removeprefix(b"data: ").strip())
        stream.error = stream.error or ("" if stream.finished else "the stream was cut")
    except (OSError, http.client.HTTPException) as error:
        stream.error = stream.error or str(error) or type(error).__name__
    finally:
        connection.close()


def _read_event(stream: Stream, payload: bytes) -> None:
    if payload == b"[DONE]":
        stream.finished = not stream.error
        return
    document = json.loads(payload)
    if document.get("error"):
        stream.error = str(document["error"])
    stream.usage = document.get("usage") or stream.usage
    stream.tokens += sum(bool(choice["delta"].get("content")) for choice in document.get("choices", ()))


# --- what must hold, whatever happened -------------------------------------------------------------------------------


def invariants(moonpad: Moonpad, limit_s: float = 5.0) -> None:
    """Fault 68, between two commands: every run readable, one engine a port, every process owned by one run, and what
    is said of a run as the world is. What a moment explains (a start, an end, a restart) has `limit_s` to pass."""
    until = time.monotonic() + limit_s
    while problems := violations(moonpad):
        assert time.monotonic() < until, "\n".join(problems)
        time.sleep(LOOK_S)


def violations(moonpad: Moonpad) -> list[str]:
    """What is not as it must be now, one sentence each."""
    problems: list[str] = []
    living = {folder: _living(folder) for folder in sorted((moonpad.state / "runs").glob("*"))}
    owner: dict[int, str] = {}
    server: dict[str, str] = {}
    for folder, processes in living.items():
        problems += _unreadable(folder)
        for pid in processes:
            if pid in owner:
                problems.append(f"process {pid} is owned by {owner[pid]} and {folder.name}")
            owner[pid] = folder.name
        if processes:
            base_url = _document(folder / "run.json").get("base_url", "")
            if base_url in server:
                problems.append(f"{base_url} is served by {server[base_url]} and {folder.name}")
            server[base_url] = folder.name
        state = _document(folder / "keeper.json").get("state")
        engine = [pid for pid in processes if comm_of(pid).startswith("VLLM::")]
        if state in (*FINAL, "waiting") and engine:
            problems.append(f"{folder.name} is {state}, and {len(engine)} processes of its engine live")
    for pid, start in find_descendants({os.getpid()}).items():
        if pid not in owner and comm_of(pid).startswith("VLLM::") and is_alive(pid, start):
            problems.append(f"process {pid} ({cmdline_of(pid)}) is owned by no run")
    return problems + _untrue(moonpad, living)


def _living(folder: Path) -> dict[int, int]:
    """pid → start time of what lives of a run, its keeper and controller too."""
    document = _document(folder / "keeper.json")
    named = [*document.get("owned", ()), document.get("keeper"), document.get("controller")]
    known = {process["pid"]: process["start"] for process in named if process}
    living = {pid: start for pid, start in known.items() if is_alive(pid, start)}
    return {**living, **find_descendants(set(living))}


def _unreadable(folder: Path) -> list[str]:
    problems = []
    for name in ("run.json", "keeper.json", "controller.json", "plan.json"):
        if (folder / name).exists() and not _document(folder / name):
            problems.append(f"{folder / name} is no JSON object")
    if (folder / "events.jsonl").exists():
        for line in (folder / "events.jsonl").read_text().splitlines():
            try:
                json.loads(line)["event"]
            except (ValueError, LookupError, TypeError):
                problems.append(f"{folder / 'events.jsonl'} has the line {line!r}")
    return problems


def _untrue(moonpad: Moonpad, living: dict[Path, dict[int, int]]) -> list[str]:
    """Names that point to no run, and runs of which `status` says something else than the processes do."""
    problems = []
    named: dict[str, dict[int, int]] = {}
    for pointer in (moonpad.state / "endpoints").glob("*.json"):
        folder = moonpad.state / "runs" / str(_document(pointer).get("run"))
        if folder in living:
            named[pointer.stem] = living[folder]
        else:
            problems.append(f"{pointer.name} points to {folder.name}, which is not there")
    rows = moonpad("status", "--json").json["endpoints"] if named else ()
    for row in rows:
        is_up = row["state"] not in FINAL
        if row["name"] in named and is_up != bool(named[row["name"]]):
            problems.append(f"status says {row['state']} of {row['name']}, and alive are {sorted(named[row['name']])}")
    return problems


def _document(path: Path) -> dict[str, Any]:
    """Empty where there is none, or no object."""
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
