"""A machine for units: a container whose first process is systemd, in the network of the host."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from moonpad.environments.installed import InstalledEngine
from tests.e2e.conftest import CHECKPOINT
from tests.e2e.podman import SYSTEMD, find_podman
from tests.e2e.rendered_site import Site
from tests.faults.helpers import wait_until


@dataclass(frozen=True)
class Machine:
    """A container whose first process is systemd, in the network of the host."""

    site: Site
    name: str

    def __call__(self, *words: str, code: int = 0, limit_s: float = 240.0) -> str:
        done = self.site.podman.run("exec", self.name, *words, limit_s=limit_s)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout.strip()

    def install(self, folder: Path, **variables: str) -> None:
        """As the unit's first lines say."""
        for path in sorted(folder.iterdir()):
            self.site.podman("cp", str(path), f"{self.name}:/srv/{path.name}")
        self("install", "-D", "-m", "600", "/srv/moonpad-tiny.env", "/etc/moonpad/moonpad-tiny.env")
        for name, value in variables.items():
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            edit = "import sys; p, n, v = sys.argv[1:]; t = open(p).read(); assert n in t; "
            edit += "open(p, 'w').write(t.replace(n, n + v))"
            self("python3", "-c", edit, "/etc/moonpad/moonpad-tiny.env", f"{name}=", f'"{quoted}"')
        self("install", "-m", "644", "/srv/moonpad-tiny.service", "/etc/systemd/system/")
        self("systemctl", "daemon-reload")

    def state(self) -> str:
        return self("systemctl", "show", "--value", "--property", "ActiveState", "moonpad-tiny")

    def main_pid(self) -> int:
        return int(self("systemctl", "show", "--value", "--property", "MainPID", "moonpad-tiny"))

    def processes(self) -> list[str]:
        script = "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done 2>/dev/null"
        return [line for line in self("sh", "-c", script).splitlines() if "served-model-name" in line or "VLLM" in line]


@contextmanager
def systemd_machine(
    site: Site, folder: Path, installed: InstalledEngine | None = None
) -> Iterator[tuple[Machine, str]]:
    """And the folder of the engine in it: the fake one's, or of the one that is installed here, at its own path."""
    find_podman(site.moonpad.env, folder, SYSTEMD)
    mounts, engine = [f"{CHECKPOINT}:/srv/checkpoint:ro"], "/opt/engine"
    if installed is not None:
        home = Path(os.path.realpath(installed.python)).parent.parent
        engine = str(installed.python.parent.parent)
        mounts += [f"{place}:{place}:ro" for place in (engine, home)]
    name = f"moonpad-systemd-{site.port}"
    words = [word for mount in mounts for word in ("--volume", mount)]
    options = ("--detach", "--name", name, "--systemd=always", "--privileged", "--network", "host")
    site.podman("run", *options, "--shm-size", "2g", *words, SYSTEMD)
    machine = Machine(site, name)

    def runs() -> bool:
        asked = site.podman.run("exec", name, "systemctl", "is-system-running")
        return asked.stdout.strip() in ("running", "degraded")

    try:
        wait_until(runs, lambda: "systemd does not run", 120.0)
        yield machine, engine
    finally:
        site.podman.run("rm", "--force", "-t", "0", name)
