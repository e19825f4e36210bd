"""An engine in a container image, against a fake docker whose daemon owns the containers. Fault 71, and 59 and 67 for
this path. No container engine was there to try it with."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from moonpad.run import keeper
from tests.conftest import ROOT, Moonpad
from tests.faults.test_keeper import await_gone, interrupt_after, keeper_of, owned_of

FAKE_DOCKER = ROOT / "tests" / "fake_engine" / "docker.py"
IMAGE = f"registry.example/vllm-cpu@sha256:{'0' * 64}"


@dataclass
class Docker:
    """The fake docker of one test: its daemon, its clients' calls."""

    place: Path
    env: dict[str, str]
    daemon: subprocess.Popen[str] | None = None
    other: subprocess.Popen[str] | None = None

    def start(self, **switches: str) -> None:
        """The daemon; the switches reach the engines of its containers."""
        command = (sys.executable, "-I", "-S", str(FAKE_DOCKER), "daemon")
        self.daemon = subprocess.Popen(command, env={**self.env, **switches}, stdout=subprocess.PIPE, text=True)
        assert self.daemon.stdout is not None
        assert self.daemon.stdout.readline() == "listening\n"

    def end(self) -> None:
        if self.daemon is not None:
            self.daemon.terminate()
            self.daemon.communicate(timeout=10)
            self.daemon = None
        if self.other is not None:
            self.other.communicate(timeout=10)
            self.other = None

    def client(self, *argv: str) -> subprocess.Popen[str]:
        command = (sys.executable, "-I", "-S", str(FAKE_DOCKER), *argv)
        return subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, text=True)

    def run_other(self) -> None:
        """A container that is not ours, beside which everything happens."""
        start = ("run", "--name", "other", "--label", "moonpad.run=other", "--env", "FAKE_NO_PORT=1", "image", "serve")
        self.other = self.client(*start)
        assert self.other.stdout is not None
        assert "Loading" in self.other.stdout.readline()

    def stopped(self) -> set[str]:
        """What anybody asked to be stopped or removed."""
        return {call[-1] for verb in ("stop", "rm") for call in self.calls(verb)}

    def running(self) -> list[str]:
        return self.client("ps", "--quiet").communicate(timeout=10)[0].split()

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
    found = Docker(folder, moonpad.env)
    yield found
    found.end()


@pytest.fixture
def image_spec(moonpad: Moonpad, free_port: int) -> Path:
    spec = moonpad.home / "fake.toml"
    spec.write_text(
        f'model = "kimi-k2-tiny"\n\n[engine]\nname = "vllm-cpu"\nimage = "{IMAGE}"\n\n'
        f'[endpoint]\nport = {free_port}\n\n[launch]\nstart_timeout = "20s"\nstop_grace = "1s"\n'
    )
    return spec


def up(moonpad: Moonpad, spec: Path) -> str:
    """The run's id, once it is ready."""
    done = moonpad("up", str(spec), "--json")
    assert done.code == 0, done.stderr
    return str(done.json["run"])


def state_of(moonpad: Moonpad) -> str:
    return str(moonpad("status", "--json").json["endpoints"][0]["state"])


def test_up_status_down(moonpad: Moonpad, docker: Docker, image_spec: Path, free_port: int) -> None:
    docker.start()
    docker.run_other()
    run = up(moonpad, image_spec)
    assert set(docker.running()) == {f"moonpad-{run}", "other"}
    (argv,) = [call for call in docker.calls("run") if "other" not in call]
    assert argv[argv.index("--publish") + 1] == f"127.0.0.1:{free_port}:{free_port}"
    assert argv[argv.index(IMAGE) :][:3] == [IMAGE, "serve", "/checkpoint"]
    assert argv[argv.index("--host") + 1] == "0.0.0.0"
    assert state_of(moonpad) == "ready"
    again = moonpad("up", str(image_spec), "--json")
    assert (again.code, again.json["changed"]) == (0, False)
    about = json.loads((moonpad.state / "runs" / run / "run.json").read_text())
    assert about["engine_version"] is None, "nobody asked the engine in the image"
    down = moonpad("down", "fake", "--json")
    assert (down.code, down.json["was_up"], down.json["killed"]) == (0, True, 0)
    assert docker.running() == ["other"]
    assert docker.stopped() == {f"moonpad-{run}"}
    asked = len(docker.calls("ps"))
    assert state_of(moonpad) == "stopped"
    assert len(docker.calls("ps")) == asked, "what the keeper ended is not asked for again"


def test_client_killed(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """Fault 71: the container lives on, and its keeper ends it."""
    docker.start()
    docker.run_other()
    run = up(moonpad, image_spec)
    owned = owned_of(moonpad)
    pid, start = keeper_of(moonpad)
    for client in owned:
        os.kill(client, signal.SIGKILL)
    await_gone({pid: start}, 15.0)
    assert docker.running() == ["other"]
    assert docker.stopped() == {f"moonpad-{run}"}
    status = moonpad("status", "--json").json["endpoints"][0]
    assert status["state"] == "failed"
    assert "SIGKILL" in status["because"]


@pytest.mark.parametrize("seed", range(4))
def test_ctrl_c(moonpad: Moonpad, docker: Docker, image_spec: Path, seed: int) -> None:
    """Fault 7 for this path: wherever it strikes, before, in or after the client's request, no container is left."""
    docker.start(FAKE_LOAD_S="1.5")
    docker.run_other()
    code = interrupt_after(moonpad, image_spec, random.Random(seed).uniform(0.5, 2.0))
    assert code in (130, 0, -2)
    if code == 0:
        moonpad("down", "fake")
    assert docker.running() == ["other"]


@pytest.mark.parametrize("client_too", [False, True])
def test_keeper_killed(moonpad: Moonpad, docker: Docker, image_spec: Path, client_too: bool) -> None:
    """Faults 8 and 71: status asks for the container by its label, `down` ends it and no other."""
    docker.start(FAKE_IGNORE_TERM="1")
    docker.run_other()
    run = up(moonpad, image_spec)
    owned = owned_of(moonpad)
    pid, start = keeper_of(moonpad)
    keeper.send(pid, start, signal.SIGKILL)
    await_gone({pid: start}, 5.0)
    if client_too:
        for client, began in owned.items():
            keeper.send(client, began, signal.SIGKILL)
        await_gone(owned, 5.0)
    status = moonpad("status", "--json").json["endpoints"][0]
    assert (status["state"], f"moonpad-{run} runs" in status["because"]) == ("unattended", True)
    assert docker.calls("ps")[-1][2] == f"label=moonpad.run={run}"
    assert moonpad("up", str(image_spec), "--json").json["changed"] is False, "adopted, never doubled"
    down = moonpad("down", "--json")
    assert (down.code, down.json["was_up"]) == (0, True), down.stderr
    assert docker.running() == ["other"]
    assert docker.stopped() == {f"moonpad-{run}"}
    assert state_of(moonpad) == "stopped"
    assert moonpad("down", "--json").json["was_up"] is False


def test_daemon_away(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """Nobody can say whether the container runs: it is not taken for stopped, and `down` says that contact is lost."""
    docker.start(FAKE_IGNORE_TERM="1")
    up(moonpad, image_spec)
    processes = dict([keeper_of(moonpad), *owned_of(moonpad).items()])
    for pid, start in processes.items():
        keeper.send(pid, start, signal.SIGKILL)
    await_gone(processes, 5.0)
    docker.end()
    assert state_of(moonpad) == "unattended"
    down = moonpad("down", "fake")
    assert down.code == 6
    assert "Cannot connect to the Docker daemon" in down.stderr
    (docker.place / "socket").unlink()
    docker.start()
    assert state_of(moonpad) == "failed", "the daemon took the container with it"
    assert moonpad("down", "fake").code == 0
    assert state_of(moonpad) == "stopped"


def test_key_never_in_argv(moonpad: Moonpad, docker: Docker, image_spec: Path, free_port: int) -> None:
    """Fault 59: the key reaches the engine through the client's environment, and stands nowhere else."""
    canary = "canary-5be1f0"
    image_spec.write_text(image_spec.read_text().replace("[endpoint]", '[endpoint]\napi_key_env = "CANARY_KEY"'))
    docker.start()
    moonpad.env["CANARY_KEY"] = canary
    up(moonpad, image_spec)
    asked = urllib.request.Request(f"http://127.0.0.1:{free_port}/v1/completions", b"{}")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(asked, timeout=5)
    shown = (docker.place / "calls.jsonl").read_text()
    for pid in [*owned_of(moonpad), keeper_of(moonpad)[0]]:
        shown += Path(f"/proc/{pid}/cmdline").read_text()
    for path in moonpad.state.rglob("*"):
        if path.is_file():
            shown += path.read_text(errors="replace")
    assert "VLLM_API_KEY" in shown
    assert canary not in shown
    assert moonpad("down", "fake").code == 0


def test_no_client(moonpad: Moonpad, clean_world: None, image_spec: Path, tmp_path: Path) -> None:
    moonpad.env["PATH"] = str(tmp_path / "empty")
    done = moonpad("up", str(image_spec))
    assert done.code == 3
    assert "neither docker nor podman is on PATH" in done.stderr
    assert not list(moonpad.state.glob("runs/*"))


def test_no_daemon(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    done = moonpad("up", str(image_spec))
    assert done.code == 3
    assert "Cannot connect to the Docker daemon" in done.stderr
    assert not list(moonpad.state.glob("runs/*"))
