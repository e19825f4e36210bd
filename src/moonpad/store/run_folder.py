"""The folder of one run, and the pointer from a name to its current run.

The folder of an `up` that was killed before its keeper ran is removed by the next `up` of that name.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from moonpad.facts.processes import read_boot_id, read_start
from moonpad.store.atomic_files import (
    append_line,
    read_json,
    read_lines,
    read_lines_backwards,
    remove_parts,
    replace_json,
)
from moonpad.store.journal import new_event
from moonpad.store.paths import endpoints_folder, lock_path, pointer_path, runs_folder
from moonpad.store.schema_version import SCHEMA, check_schema, is_known, read_about, read_keeper

CREATED: Final = "created"
"""The first event of a run; it names the process that has made the folder."""

LEFTOVER_S: Final = 3600.0
"""A start takes seconds from the folder to the keeper; a younger folder is never removed."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """`name` is the endpoint's name, the folder's own name is the run's id."""

    name: str
    path: Path
    pointer_schema: object = field(default=SCHEMA, compare=False, repr=False)
    """The schema of the pointer that led here. Where it is unknown, `path` may be wrong, and every document is
    refused."""

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

    @property
    def pointer_path(self) -> Path:
        return pointer_path(self.name)

    def pointer_document(self) -> dict[str, Any]:
        """What stands in the pointer file while this run is the current one of its name."""
        return {"schema": SCHEMA, "run": self.run_id}

    def append_event(self, event: str, **fields: object) -> dict[str, Any]:
        """`t_s` is the machine's monotonic clock, comparable between the processes of one boot; `at` is for people.

        On a full disk the event is lost, and the record still returned. The keeper and the controller, which stay,
        write theirs later (store/journal.py).
        """
        record = new_event(event, fields)
        with suppress(OSError):
            append_line(self.events_path, record)
        return record

    def events(self) -> Iterator[dict[str, Any]]:
        return read_lines(self.events_path)

    def event(self, name: str) -> dict[str, Any] | None:
        """The first event of that name."""
        return next((event for event in self.events() if event.get("event") == name), None)

    def last_event(self, *names: str) -> dict[str, Any] | None:
        """The last event of any of these names; of any name, where none is given."""
        events = read_lines_backwards(self.events_path)
        return next((event for event in events if not names or event.get("event") in names), None)

    def check_schema(self) -> None:
        """Raises SchemaTooNew where the run's files are of a layout that this moonpad does not know, as `about`,
        `keeper` and `controller` do for theirs."""
        self.about()
        self.keeper()
        self.controller()

    def about(self) -> dict[str, Any]:
        """run.json: what status, verify and down need. Empty where there is none."""
        return self._document("run.json", read_about)

    def write_about(self, **fields: object) -> None:
        replace_json(self.path / "run.json", {"schema": SCHEMA, "name": self.name, "run": self.run_id, **fields})

    def keeper(self) -> dict[str, Any]:
        """keeper.json: the keeper's state and the processes it owns. Empty where there is none."""
        return self._document("keeper.json", read_keeper)

    def controller(self) -> dict[str, Any]:
        """controller.json: what the controller last saw. Empty where there is none."""
        return self._document("controller.json", lambda document: document)

    def memory(self) -> dict[str, Any]:
        """memory.json: what the plan expects of the memory, or why it expects nothing."""
        return read_json(self.path / "memory.json") or {}

    def write_memory(self, document: dict[str, Any]) -> None:
        replace_json(self.path / "memory.json", document)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def _document(self, file: str, read: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        check_schema(self.pointer_schema, f"the pointer {self.name}.json")
        document = read_json(self.path / file)
        if not document:
            return {}
        check_schema(document.get("schema"), f"{file} of {self.run_id}")
        return read(document)


def create_run(name: str) -> RunFolder:
    """A new folder that sorts by time. What a killed `up` has left of that name is removed. Raises OSError: it could
    not be made; nothing of it is left."""
    _remove_leftovers(name)
    while True:
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        folder = RunFolder(name, runs_folder() / f"{name}-{stamp}-{secrets.token_hex(2)}")
        with suppress(FileExistsError):
            folder.path.mkdir(parents=True, mode=0o700)
            break
    try:
        append_line(folder.events_path, new_event(CREATED, this_process()))
    except BaseException:
        folder.remove()
        raise
    return folder


def current_run(name: str) -> RunFolder | None:
    """The current run of a name, whether it is up or not. If the pointer's schema is unknown, every document of the
    run raises SchemaTooNew."""
    pointer = read_json(pointer_path(name))
    if pointer is None:
        return None
    run_id, schema = pointer.get("run"), pointer.get("schema")
    named = isinstance(run_id, str) and "/" not in run_id and run_id not in ("", ".", "..")
    folder = RunFolder(name, runs_folder() / (str(run_id) if named else name), schema)
    if not is_known(schema):
        return folder
    return folder if named and folder.path.is_dir() else None


def current_runs() -> tuple[RunFolder, ...]:
    """The current run of every name, by name."""
    names = sorted(path.stem for path in endpoints_folder().glob("*.json"))
    return tuple(folder for name in names if (folder := current_run(name)) is not None)


# --- what killed commands leave -----------------------------------------------------------------------------------


def this_process() -> dict[str, Any]:
    """Our identity, so that another process can tell later whether we live."""
    return {"pid": os.getpid(), "start": read_start(os.getpid()), "boot_id": read_boot_id()}


def _remove_leftovers(name: str) -> None:
    """Removes the run folders of that name which never had a keeper, and whose creator has gone, and what killed
    processes had half written in the others.

    Never one that the name's lock or pointer names; none at all while the lock is there and does not say whose it is.
    """
    holder = _named_by(lock_path(name))
    if holder is None and lock_path(name).exists():
        return
    spared = {holder, _named_by(pointer_path(name))}
    mine = re.compile(re.escape(name) + r"-\d{8}-\d{6}-[0-9a-f]{4}")
    for folder in runs_folder().glob("*"):
        if not mine.fullmatch(folder.name) or folder.name in spared:
            continue
        if _is_leftover(folder):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            remove_parts(folder, older_than_s=0)


def _is_leftover(folder: Path) -> bool:
    with suppress(OSError):
        if folder.is_symlink() or time.time() - folder.stat().st_mtime < LEFTOVER_S:
            return False
        return not (folder / "keeper.json").exists() and _creator_has_gone(folder)
    return False


def _creator_has_gone(folder: Path) -> bool:
    """A folder that does not name its creator is kept, unless it is empty: then its creator got no further."""
    created = next((event for event in read_lines(folder / "events.jsonl") if event.get("event") == CREATED), None)
    if created is None:
        return not any(folder.iterdir())
    if created.get("boot_id") != read_boot_id():
        return True
    pid = created.get("pid")
    return isinstance(pid, int) and read_start(pid) != created.get("start")


def _named_by(path: Path) -> str | None:
    run = (read_json(path) or {}).get("run")
    return run if isinstance(run, str) else None
