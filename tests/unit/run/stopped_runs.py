"""Runs whose processes only live, and a keeper that says what a test wants."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from moonpad.facts.processes import is_alive, read_boot_id, read_stat, send_signal
from moonpad.run import down
from moonpad.run.drain import Requests
from moonpad.store.atomic_files import replace_json
from moonpad.store.run_folder import RunFolder, create_run

Spawn = Callable[..., dict[str, int]]

BETWEEN = "import subprocess, sys; print(subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL).pid)"


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Processes that only live; (pid, start) of each."""
    started: list[tuple[int, int]] = []

    def start(*argv: str) -> dict[str, int]:
        # A process between us, so that none of our own children stays a zombie.
        command = (sys.executable, "-I", "-S", "-c", BETWEEN, *(argv or ("sleep", "600")))
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        pid = int(done.stdout)
        stat = read_stat(pid)
        begun = stat.start if stat else 0  # `true` may have ended already
        started.append((pid, begun))
        return {"pid": pid, "start": begun}

    yield start
    for pid, begun in started:
        send_signal(pid, begun, signal.SIGKILL)


def run(*, kept_by: dict[str, int], owned: list[dict[str, int]], state: str = "running", **fields: Any) -> RunFolder:
    about = {name: fields.pop(name) for name in ("drain_s", "ports") if name in fields}
    folder = create_run("tiny")
    folder.write_about(base_url="http://127.0.0.1:1/v1", engine="vllm-cpu", **about)
    document = {
        "schema": 2,
        "state": state,
        "because": "its processes run",
        "boot_id": read_boot_id(),
        "keeper": kept_by,
        "controller": None,
        "generation": 1,
        "roots": [{"name": "engine", **process} for process in owned[:1]],
        "owned": owned,
        "after_stop": [],
        "temp_dir": "",
        "cgroup": "",
        "shared_memory": [],
        **fields,
    }
    replace_json(folder.path / "keeper.json", document)
    return folder


def lives(process: dict[str, int]) -> bool:
    return is_alive(process["pid"], process["start"])


class FakeKeeper:
    """Answers as one, over a socket that is a function: `stop` and `hurry` end the engine after so many words."""

    def __init__(
        self, spawn: Spawn, monkeypatch: pytest.MonkeyPatch, *, drain_s: float = 0.0, deaf_to: str = ""
    ) -> None:
        self.process, self.engine = spawn(), spawn()
        self.requests: list[dict[str, Any]] = []
        self.deaf_to = deaf_to
        self.folder = run(kept_by=self.process, owned=[self.engine], drain_s=drain_s)
        self.folder.append_event("ready", generation=1)
        monkeypatch.setattr(down, "tell", self.tell)

    def tell(self, folder: RunFolder, do: str, timeout_s: float = 0.0, **fields: object) -> dict[str, Any]:
        self.requests.append({"do": do, **fields})
        if do == "hurry" or (do == "stop" and self.deaf_to != "stop"):
            self.end(do)
        return {"ok": True}

    def end(self, do: str) -> None:
        for identity, number in ((self.engine, signal.SIGKILL), (self.process, signal.SIGKILL)):
            send_signal(identity["pid"], identity["start"], number)
        used = "KILL" if do == "hurry" else "INT"
        self.folder.append_event("stopped", reason="asked to stop", signal=used, killed=int(do == "hurry"))
        document = {**self.folder.keeper(), "state": "stopped", "owned": []}
        replace_json(self.folder.path / "keeper.json", document)


def requests(monkeypatch: pytest.MonkeyPatch, *counts: int | None) -> None:
    """The engine's, as it is asked again and again; the last one stays."""
    answers = iter(counts)
    monkeypatch.setattr(down, "requests_of", lambda _: Requests(lambda: next(answers, counts[-1])))
