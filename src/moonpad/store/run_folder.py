"""The folder of one run, and the pointer from a name to its current run."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moonpad.store.files import append_line, read_json, read_lines, replace_json
from moonpad.store.places import endpoints_folder, lock_path, runs_folder

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class RunFolder:
    """`name` is the endpoint's name, the folder's own name is the run's id."""

    name: str
    path: Path

    @property
    def run_id(self) -> str:
        return self.path.name

    @property
    def events_path(self) -> Path:
        return self.path / "events.jsonl"

    @property
    def log_path(self) -> Path:
        return self.path / "engine.log"

    @property
    def lock_path(self) -> Path:
        return lock_path(self.name)

    def append_event(self, event: str, **fields: object) -> dict[str, Any]:
        """`t_s` is the machine's monotonic clock, comparable between the processes of one boot; `at` is for people."""
        record = {"event": event, "t_s": round(time.monotonic(), 6), "at": round(time.time(), 3), **fields}
        append_line(self.events_path, record)
        return record

    def events(self) -> Iterator[dict[str, Any]]:
        return read_lines(self.events_path)

    def event(self, name: str) -> dict[str, Any] | None:
        """The first event of that name."""
        return next((event for event in self.events() if event.get("event") == name), None)

    def about(self) -> dict[str, Any]:
        """run.json: what status, verify and down need to know of the run."""
        return read_json(self.path / "run.json") or {}

    def write_about(self, **fields: object) -> None:
        replace_json(self.path / "run.json", {"schema": SCHEMA, "name": self.name, "run": self.run_id, **fields})

    def keeper(self) -> dict[str, Any]:
        """keeper.json: who keeps the run and what it owns."""
        return read_json(self.path / "keeper.json") or {}

    def memory(self) -> dict[str, Any]:
        """memory.json: what the plan expects of the memory, or why it expects nothing."""
        return read_json(self.path / "memory.json") or {}

    def write_memory(self, document: dict[str, Any]) -> None:
        replace_json(self.path / "memory.json", document)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def create_run(name: str) -> RunFolder:
    """A new, empty folder that sorts by time."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    path = runs_folder() / f"{name}-{stamp}-{secrets.token_hex(2)}"
    path.mkdir(parents=True, mode=0o700)
    return RunFolder(name, path)


def point_to(folder: RunFolder) -> None:
    """Makes this run the current one of its name."""
    replace_json(endpoints_folder() / f"{folder.name}.json", {"schema": SCHEMA, "run": folder.run_id})


def current_run(name: str) -> RunFolder | None:
    """The current run of a name, whether it is up or not."""
    pointer = read_json(endpoints_folder() / f"{name}.json")
    run_id = pointer.get("run") if pointer else None
    if not isinstance(run_id, str) or "/" in run_id:
        return None
    path = runs_folder() / run_id
    return RunFolder(name, path) if path.is_dir() else None


def current_runs() -> tuple[RunFolder, ...]:
    """The current run of every name, by name."""
    names = sorted(path.stem for path in endpoints_folder().glob("*.json"))
    return tuple(folder for name in names if (folder := current_run(name)) is not None)
