"""`render --to docker|compose|kubernetes`: by podman under docker's name, podman-compose and `podman kube play`."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.targets.target import API_SERVER, CORE, FAKE_LOAD_S, PATIENCE_S, Target, engine_pids
from tests.conftest import Moonpad
from tests.e2e.podman import FAKE, REAL, find_podman
from tests.e2e.rendered_site import KEY, Site, playable, rendered_site

MACHINE = "container moonpad-systemd-"
CLIENT, MONITOR = "client", "container's monitor"


@dataclass
class Contained(Target):
    site: Site | None = None
    rendered: Path = Path()
    before: frozenset[str] = frozenset()

    @property
    def on(self) -> Site:
        assert self.site is not None
        return self.site

    def container(self) -> str:
        """The engine's, of any state; "" for none."""
        names = self.on.podman("ps", "--all", "--format", "{{.Names}}").split()
        return next((name for name in names if "engine" in name), "")

    def field(self, name: str) -> int:
        asked = self.on.podman.run("inspect", "--format", f"{{{{.State.{name}}}}}", self.container() or "none")
        return int(asked.stdout) if asked.returncode == 0 else 0

    def pids(self, victim: str) -> list[int]:
        if victim == MONITOR:
            return [pid for pid in [self.field("ConmonPid")] if pid]
        return engine_pids(lambda: self.field("Pid"), victim)

    def kill(self, victim: str, chance: random.Random) -> None:
        monitor = self.field("ConmonPid")
        super().kill(victim, chance)
        if victim == MONITOR:  # which is below this program, and would be taken for alive while nobody asks for its end
            with suppress(ChildProcessError):
                os.waitpid(monitor, 0)

    def has_ended(self) -> bool:
        return not self.container()

    def left(self) -> list[str]:
        """Without the machine of another target, which runs at the same time."""
        return sorted(each for each in self.on.podman.left() - self.before if MACHINE not in each)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, env=self.on.env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


@dataclass
class Docker(Contained):
    running: subprocess.Popen[bytes] | None = None

    victims = (CLIENT, API_SERVER, MONITOR, CORE)

    def start(self) -> None:
        with (self.moonpad.home / "engine.log").open("ab") as log:
            words = ("bash", str(self.rendered / "node-0" / "run.sh"))
            self.running = subprocess.Popen(words, env=self.on.env, stdout=log, stderr=log)

    def pids(self, victim: str) -> list[int]:
        if victim == CLIENT:
            return [self.running.pid] if self.running and self.running.poll() is None else []
        return super().pids(victim)

    def stop(self, number: int) -> str:
        assert self.running is not None
        asked = (signal.SIGINT, signal.SIGTERM)[number // 2 % 2]
        self.running.send_signal(asked)
        return f"{asked.name}, exit code {self.running.wait(PATIENCE_S)}"

    def has_ended(self) -> bool:
        return self.running is not None and self.running.poll() is not None and super().has_ended()

    def is_over(self) -> bool:
        return self.has_ended()

    def clean(self) -> str:
        if not self.container():
            return ""
        done = self.run("docker", "rm", "--force", "moonpad-tiny-engine")
        if self.running is not None:
            self.running.wait(PATIENCE_S)
        return f"docker rm --force, exit code {done.returncode}"


@dataclass
class Compose(Contained):
    program: str = ""

    victims = (API_SERVER, CORE, MONITOR)

    def compose(self, *words: str) -> int:
        file = str(self.rendered / "node-0" / "compose.yaml")
        done = self.run(self.program, "-f", file, *words)
        with (self.moonpad.home / "engine.log").open("a") as log:
            log.write(done.stdout + done.stderr)
        return done.returncode

    def start(self) -> None:
        assert self.compose("up", "--detach") == 0, (self.moonpad.home / "engine.log").read_text()[-2000:]

    def stop(self, number: int) -> str:
        return f"compose down, exit code {self.compose('down')}"

    def clean(self) -> str:
        return self.stop(0)


@dataclass
class Played(Contained):
    victims = (API_SERVER, CORE, MONITOR)

    def start(self) -> None:
        self.on.podman("kube", "play", str(self.rendered), limit_s=PATIENCE_S)

    def stop(self, number: int) -> str:
        done = self.on.podman.run("kube", "down", str(self.rendered), limit_s=PATIENCE_S)
        return f"kube down, exit code {done.returncode}"

    def clean(self) -> str:
        return self.stop(0)


@contextmanager
def open_site(moonpad: Moonpad, port: int, engine: str) -> Iterator[tuple[Site, str]]:
    """And the line of a spec that names the image."""
    with rendered_site(moonpad, port, moonpad.home, f"FAKE_LOAD_S={FAKE_LOAD_S}") as site:
        image = FAKE if engine == "fake" else REAL
        find_podman(moonpad.env, moonpad.home, image, f"FAKE_LOAD_S={FAKE_LOAD_S}")
        yield site, f'image = "{site.podman.reference(image)}"'


@contextmanager
def open_docker(moonpad: Moonpad, port: int, engine: str) -> Iterator[Docker]:
    with open_site(moonpad, port, engine) as (site, image):
        rendered = site.render("docker", image)
        yield Docker(moonpad, port, engine, KEY, site=site, rendered=rendered, before=frozenset(site.podman.left()))


@contextmanager
def open_compose(moonpad: Moonpad, port: int, engine: str) -> Iterator[Compose]:
    program = shutil.which("podman-compose")
    assert program is not None, "podman-compose is not installed"
    with open_site(moonpad, port, engine) as (site, image):
        rendered = site.render("compose", image)
        before = frozenset(site.podman.left())
        yield Compose(moonpad, port, engine, KEY, site=site, rendered=rendered, before=before, program=program)


@contextmanager
def open_played(moonpad: Moonpad, port: int, engine: str) -> Iterator[Played]:
    with (
        open_site(moonpad, port, engine) as (site, image),
        playable(site, site.render("kubernetes", image) / "kubernetes.yaml") as played,
    ):
        before = frozenset(site.podman.left())  # with the claim, which a cluster's owner makes beforehand
        yield Played(moonpad, port, engine, KEY, site=site, rendered=played, before=before)
