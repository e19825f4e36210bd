"""A fake docker on PATH whose daemon owns the containers, and what a run in one looks like."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import LAUNCH, ROOT, Moonpad
from tests.faults.helpers import (
    events_of,
    keeper_document,
    status_of,
    wait_until,
)
from tests.ports import free_port

FAKE_DOCKER = ROOT / "tests" / "fake_engine" / "docker.py"

IMAGE = f"registry.example/vllm-cpu@sha256:{'0' * 64}"

OTHER = "other"


@dataclass
class Docker:
    """The fake docker of one test: its daemon, its clients' calls."""

    place: Path
    env: dict[str, str]
    daemon: subprocess.Popen[str] | None = None
    other: subprocess.Popen[str] | None = None

    def start(self, **switches: str) -> None:
        """The daemon; the switches reach the engines of its containers."""
        self.daemon = self.call("daemon", **switches)
        assert self.daemon.stdout is not None
        assert self.daemon.stdout.readline() == "listening\n"

    def kill(self) -> None:
        """The daemon goes, and its containers stay, as with live-restore; attached clients end."""
        assert self.daemon is not None
        self.daemon.kill()
        self.daemon.communicate(timeout=10)
        self.daemon = None

    def end(self) -> None:
        """The daemon goes, and all containers with it."""
        if self.daemon is not None:
            self.daemon.terminate()
            self.daemon.communicate(timeout=20)
            self.daemon = None
        self.call("purge").communicate(timeout=20)
        if self.other is not None:
            self.other.communicate(timeout=10)
            self.other = None

    def call(self, *argv: str, **env: str) -> subprocess.Popen[str]:
        command = (sys.executable, "-I", "-S", str(FAKE_DOCKER), *argv)
        return subprocess.Popen(command, env={**self.env, **env}, stdout=subprocess.PIPE, text=True)

    def run_other(self) -> None:
        """A container that is not ours, beside which everything happens."""
        port = str(free_port())
        options = ("--name", OTHER, "--label", "moonpad.run=other", "--env", "FAKE_NO_PORT=1")
        self.other = self.call("run", *options, "image", "serve", "--port", port)
        assert self.other.stdout is not None
        assert self.other.stdout.readline()

    def running(self) -> list[str]:
        return self.call("ps", "--format", "{{.Names}}").communicate(timeout=10)[0].split()

    def id_of(self, name: str) -> str:
        """Of the container with that name which runs; as the fake daemon's files say."""
        folders = (path.parent for path in self.place.glob("containers/*/pid"))
        living = [folder for folder in folders if not (folder / "exit").exists()]
        (folder,) = [path.name for path in living if json.loads((path / "about.json").read_text())["name"] == name]
        return folder

    def await_attached(self, count: int = 1) -> None:
        """The event `reattached` tells of a client that was started, which has yet to ask the daemon."""

        def times() -> int:
            return sum(len(path.read_text().splitlines()) for path in self.place.glob("containers/*/attached"))

        wait_until(lambda: times() >= count, lambda: f"attached {times()} times", 20.0)

    def created(self) -> list[str]:
        """The names of all containers that were ever made, in any state."""
        return sorted(json.loads(path.read_text())["name"] for path in self.place.glob("containers/*/about.json"))

    def stopped(self) -> set[str]:
        """What anybody asked to be stopped or removed."""
        return {call[-1] for verb in ("stop", "rm") for call in self.calls(verb)}

    def calls(self, verb: str) -> list[list[str]]:
        lines = (self.place / "calls.jsonl").read_text().splitlines()
        return [words for line in lines if (words := json.loads(line))[0] == verb]


@pytest.fixture
def docker(moonpad: Moonpad, clean_world: None, tmp_path: Path) -> Iterator[Docker]:
    """`docker` on PATH, its daemon not started yet; at the end the daemon goes, and all containers with it."""
    folder = tmp_path / "docker"
    folder.mkdir()
    program = folder / "docker"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "{FAKE_DOCKER}" "$@"\n')
    program.chmod(0o755)
    moonpad.env["PATH"] = f"{folder}{os.pathsep}{moonpad.env['PATH']}"
    moonpad.env["FAKE_DOCKER"] = str(folder)
    docker = Docker(folder, moonpad.env)
    yield docker
    docker.end()


@pytest.fixture
def image_spec(moonpad: Moonpad, free_port: int) -> Path:
    spec = moonpad.home / "fake.toml"
    launch = "".join(f"{name} = {json.dumps(value)}\n" for name, value in {**LAUNCH, "stop_grace": "1s"}.items())
    spec.write_text(
        f'model = "kimi-k2-tiny"\n\n[engine]\nname = "vllm-cpu"\nimage = "{IMAGE}"\n\n'
        f"[endpoint]\nport = {free_port}\n\n[launch]\n{launch}"
    )
    return spec


def up(moonpad: Moonpad, spec: Path) -> str:
    """The run's id, once it is ready."""
    done = moonpad("up", str(spec), "--json")
    assert done.code == 0, done.stderr
    return str(done.json["run"])


def state_of(moonpad: Moonpad) -> str:
    return str(status_of(moonpad)["state"])


def client_of(moonpad: Moonpad) -> tuple[int, int]:
    """(pid, start) of the docker client that is the run's root."""
    (root,) = keeper_document(moonpad)["roots"]
    return root["pid"], root["start"]


def await_generation(moonpad: Moonpad, number: int) -> None:
    """Until the engine's nth start is ready."""

    def ready() -> bool:
        return any(event.get("generation") == number for event in events_of(moonpad, "ready"))

    wait_until(ready, lambda: str([(event["event"], event.get("reason")) for event in events_of(moonpad)]), 30.0)


def serves(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return int(answer.status) == 200
    except OSError:
        return False
