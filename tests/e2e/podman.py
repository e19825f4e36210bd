"""A real podman for tests: the command, its settings, and what is left of a test's containers."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

FAKE = "localhost/moonpad-fake"
REAL = "localhost/moonpad-vllm-cpu"
SYSTEMD = "localhost/moonpad-systemd"
MPI = "localhost/moonpad-mpi"
WORKABLE = Path.home() / ".cache" / "moonpad" / "podman" / "containers.conf"
"""What scripts/container_images.py has written where podman's own settings start no container."""


@dataclass(frozen=True)
class Podman:
    env: dict[str, str]

    def __call__(self, *words: str, limit_s: float = 60.0) -> str:
        done = self.run(*words, limit_s=limit_s)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def run(self, *words: str, limit_s: float = 60.0) -> subprocess.CompletedProcess[str]:
        asked = ("podman", *words)
        return subprocess.run(asked, env=self.env, capture_output=True, text=True, timeout=limit_s, check=False)

    def left(self) -> set[str]:
        """Containers of any state, pods, volumes and networks, by what they are and their names."""
        asked = {
            "container": ("ps", "--all", "--format", "{{.Names}}"),
            "pod": ("pod", "ps", "--format", "{{.Name}}"),
            "volume": ("volume", "ls", "--quiet"),
            "network": ("network", "ls", "--quiet"),
        }
        found = {f"{kind} {name}" for kind, words in asked.items() for name in self(*words).split()}
        return found - {"network podman-default-kube-network"}  # podman's own, for all that it plays

    def reference(self, image: str) -> str:
        """With its digest, as a spec takes it."""
        return f"{image}@{self('image', 'inspect', '--format', '{{.Digest}}', image)}"


def find_podman(env: dict[str, str], place: Path, image: str, switches: str = "") -> Podman:
    """Podman with the image, or the test is skipped. `switches`: the environment of the containers, `A=1`."""
    if shutil.which("podman") is None:
        pytest.skip("podman is not installed")
    settings = os.environ.get("CONTAINERS_CONF") or (str(WORKABLE) if WORKABLE.exists() else "")
    own = place / "containers.conf"
    given = f'[containers]\nenv = ["{switches}"]\n' if switches else ""
    own.write_text(given + (Path(settings).read_text() if settings else ""))
    podman = Podman({**env, "CONTAINERS_CONF": str(own)})
    if podman.run("image", "exists", image).returncode:
        pytest.skip(f"{image} is not built: python scripts/container_images.py {image.rpartition('moonpad-')[2]}")
    if refusal := _refusal(settings, image):
        pytest.skip(f"podman starts no container with its own settings: python scripts/container_images.py; {refusal}")
    return podman


@cache
def _refusal(settings: str, image: str) -> str:
    """Why podman starts no container of the image; "" where it does."""
    asked = ("podman", "run", "--rm", "--entrypoint", "/bin/true", image)
    env = {**os.environ, "CONTAINERS_CONF": settings} if settings else dict(os.environ)
    done = subprocess.run(asked, env=env, capture_output=True, text=True, timeout=60, check=False)
    return done.stderr.strip()[-300:] if done.returncode else ""
