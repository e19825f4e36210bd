"""`render --to slurm`: by a real slurmctld and two slurmd, stopped by scancel. One engine over both nodes."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.targets.shell import engine_folder
from benchmarks.targets.target import FAKE_LOAD_S, PATIENCE_S, Target, shared_memory_of
from tests.conftest import Moonpad
from tests.e2e.slurm import NODES, TWO_HOSTS, Slurm, slurm_cluster
from tests.faults.helpers import wait_until

LAST_STATES = ("CANCELLED", "FAILED", "COMPLETED", "NODE_FAIL", "TIMEOUT")


@dataclass
class Job(Target):
    slurm: Slurm | None = None
    folder: Path = Path()
    job: str = ""

    victims = ("rank of n1", "rank of n2", "node n2")

    @property
    def on(self) -> Slurm:
        assert self.slurm is not None
        return self.slurm

    def start(self) -> None:
        self.job = self.on.submit(self.folder, TWO_HOSTS, FAKE_LOAD_S=str(FAKE_LOAD_S))

    def pids(self, victim: str) -> list[int]:
        node = f"SLURMD_NODENAME={victim.rpartition(' ')[2]}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                words = (path / "cmdline").read_bytes()
                environ = (path / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if node in environ and f"SLURM_JOB_ID={self.job}".encode() in environ and b"--served-model-name" in words:
                found.append(int(path.name))
        return found

    def kill(self, victim: str, chance: random.Random) -> None:
        if not victim.startswith("node"):
            return super().kill(victim, chance)
        return self.on.lose(NODES[1])

    def state(self) -> str:
        return self.on.state(self.job)

    def stop(self, number: int) -> str:
        done = self.on.asked("scancel", self.job)
        wait_until(lambda: self.state() in LAST_STATES, self.state, PATIENCE_S)
        return f"scancel, exit code {done.returncode}, {self.state()}"

    def has_ended(self) -> bool:
        """Or waits to be started again."""
        return self.state() in (*LAST_STATES, "PENDING", "REQUEUED")

    def clean(self) -> str:
        return f"{self.state()}, then {self.stop(0)}" if self.state() not in LAST_STATES else ""

    def left(self) -> list[str]:
        remaining = self.on.asked("squeue", "--noheader").stdout.splitlines()
        remaining += self.on.steps()
        for name in NODES:
            if self.on.daemons[name].poll() is None:
                remaining += shared_memory_of(self.on.daemons[name].pid)
        return remaining

    def restore(self) -> None:
        for name in NODES:
            if self.on.daemons[name].poll() is not None:
                self.on.start(name)
        wait_until(lambda: self.on.sinfo() == ["idle", "idle"], lambda: str(self.on.sinfo()), PATIENCE_S)


@contextmanager
def open_slurm(moonpad: Moonpad, port: int, engine: str) -> Iterator[Job]:
    with slurm_cluster(moonpad.home / "slurm", moonpad, port) as slurm:
        folder = engine_folder(engine, moonpad.home)
        yield Job(moonpad, port, engine, inside=slurm.inside, slurm=slurm, folder=folder)
        subprocess.run((*slurm.inside, "scancel", "--user", "root"), env=slurm.env, capture_output=True, check=False)
