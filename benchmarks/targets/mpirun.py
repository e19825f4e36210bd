"""`render --to mpirun`: by Open MPI between two sshd, with a stand-in for TensorRT-LLM; stopped by INT or TERM."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.targets.target import PATIENCE_S, Target, shared_memory_of
from tests.conftest import Moonpad
from tests.e2e.mpi_site import PORT, TARGETS, MpiSite, MpiStart, mpi_site

SCRIPT = "script"


@dataclass
class Ranks(Target):
    site: MpiSite | None = None
    running: MpiStart | None = None

    victims = (*TARGETS, SCRIPT)

    @property
    def on(self) -> MpiSite:
        assert self.site is not None
        return self.site

    def start(self) -> None:
        self.running = self.on.start()

    def pids(self, victim: str) -> list[int]:
        if victim != SCRIPT:
            return self.on.pids(victim)
        return [pid for pid, command in self.on.hosts.processes("a").items() if "run.sh" in command]

    def kill(self, victim: str, chance: random.Random) -> None:
        if victim != SCRIPT:
            return super().kill(victim, chance)
        assert self.running is not None
        return self.running.send(signal.SIGKILL)

    def stop(self, number: int) -> str:
        assert self.running is not None
        asked = (signal.SIGINT, signal.SIGTERM)[number // 2 % 2]
        self.running.send(asked)
        return f"{asked.name}, exit code {self.running.ended(PATIENCE_S)[0]}"

    def has_ended(self) -> bool:
        return self.running is not None and self.running.entering.poll() is not None

    def is_over(self) -> bool:
        return self.has_ended()

    def clean(self) -> str:
        if not self.on.left():
            return ""
        return f"MOONPAD_STOP=1, exit code {self.on.start(MOONPAD_STOP='1').ended(PATIENCE_S)[0]}"

    def left(self) -> list[str]:
        found = list(self.on.left().values())
        return found + [each for pid in self.on.hosts.first.values() for each in shared_memory_of(pid)]


@contextmanager
def open_mpirun(moonpad: Moonpad, port: int, engine: str) -> Iterator[Ranks]:
    with mpi_site(moonpad, moonpad.home) as site:
        yield Ranks(moonpad, PORT, "stand-in", inside=site.hosts.inside("a"), site=site)
