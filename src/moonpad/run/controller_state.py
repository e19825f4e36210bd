"""What the controller writes down: events, and `controller.json`. A full disk delays it, and ends nothing."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from moonpad.run.keeper import boot_id, is_alive, stat_of
from moonpad.store.files import append_line, replace_json
from moonpad.store.run_folder import RunFolder
from moonpad.store.schema import SCHEMA
from moonpad.values.supervision import State

UNWRITTEN_EVENTS = 1000


@dataclass(frozen=True, slots=True)
class ControllerState:
    """`controller.json`. `restarts` counts those of the whole run; `stable` is of this generation."""

    pid: int
    start: int
    boot_id: str
    generation: int
    state: State
    because: str
    stable: bool
    restarts: int

    @property
    def is_alive(self) -> bool:
        """Whether the controller that wrote this lives. What it last saw may be old where it does not."""
        return self.boot_id == boot_id() and is_alive(self.pid, self.start)


def read_controller(folder: RunFolder) -> ControllerState | None:
    """What the controller last wrote; None where it has written nothing, or nothing that can be read."""
    document = folder.controller()
    try:
        return ControllerState(
            pid=int(document["pid"]),
            start=int(document["start"]),
            boot_id=str(document["boot_id"]),
            generation=int(document["generation"]),
            state=State(document["state"]),
            because=str(document["because"]),
            stable=bool(document["stable"]),
            restarts=int(document["restarts"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


class StateFile:
    """Writes `controller.json` where something in it has changed, again and again until it is written."""

    def __init__(self, folder: RunFolder) -> None:
        self._path = folder.path / "controller.json"
        self._boot_id = boot_id()
        own = stat_of(os.getpid())
        self._start = own[1] if own else 0
        self._written: ControllerState | None = None

    def write(self, generation: int, state: State, because: str, *, stable: bool, restarts: int) -> None:
        wanted = ControllerState(os.getpid(), self._start, self._boot_id, generation, state, because, stable, restarts)
        if wanted == self._written:
            return
        try:
            replace_json(self._path, {"schema": SCHEMA, **asdict(wanted)})
        except OSError:
            return
        self._written = wanted


class Journal:
    """`events.jsonl` as the controller writes and reads it. What cannot be written now is written later, in order and
    with its own time; over UNWRITTEN_EVENTS the oldest are lost."""

    def __init__(self, folder: RunFolder, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._clock = clock
        self._unwritten: deque[dict[str, Any]] = deque(maxlen=UNWRITTEN_EVENTS)

    def write(self, event: str, **fields: object) -> None:
        self._unwritten.append({"event": event, "t_s": round(self._clock(), 6), "at": round(time.time(), 3), **fields})
        self.flush()

    def flush(self) -> None:
        while self._unwritten:
            try:
                append_line(self._folder.events_path, self._unwritten[0])
            except OSError:
                return
            self._unwritten.popleft()

    def events(self) -> Iterator[dict[str, Any]]:
        """All of the run, those too that are not on the disk yet."""
        yield from self._folder.events()
        yield from self._unwritten

    def events_of(self, generation: int) -> list[dict[str, Any]]:
        """Those from the generation's first `spawned` on, until the next generation's.

        By their time, not by their place: an event that had to wait for room on the disk stands later.
        """
        events = list(self.events())
        begins = {
            int(event.get("generation") or 1): float(event.get("t_s", 0.0))
            for event in reversed(events)
            if event.get("event") == "spawned"
        }
        if generation not in begins:
            return []
        ends = min((at for number, at in begins.items() if number > generation), default=float("inf"))
        return [event for event in events if begins[generation] <= float(event.get("t_s", 0.0)) < ends]
