"""What the controller writes down: events, and `controller.json`. A full disk delays it, and ends nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from moonpad.facts.processes import is_alive, read_boot_id
from moonpad.store.atomic_files import replace_json
from moonpad.store.journal import Journal
from moonpad.store.run_folder import RunFolder
from moonpad.store.schema_version import SCHEMA
from moonpad.values.records import as_dict
from moonpad.values.supervision import State


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
        return self.boot_id == read_boot_id() and is_alive(self.pid, self.start)


def read_controller(folder: RunFolder) -> ControllerState | None:
    """What the controller last wrote; None where it has written nothing, or nothing that can be read."""
    try:
        return msgspec.convert(folder.controller(), ControllerState)
    except msgspec.ValidationError:
        return None


def write_controller(folder: RunFolder, state: ControllerState) -> None:
    replace_json(folder.path / "controller.json", {"schema": SCHEMA, **as_dict(state)})


class ControllerJournal(Journal):
    """The controller reads what it has written, too."""

    def __init__(self, folder: RunFolder, clock: Callable[[], float]) -> None:
        super().__init__(folder.events_path, clock)
        self._folder = folder

    def events(self) -> Iterator[dict[str, Any]]:
        """All of the run, those too that are not on the disk yet."""
        yield from self._folder.events()
        yield from self.unwritten

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
