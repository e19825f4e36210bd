"""An engine in a container image, against a fake docker whose daemon owns the containers. Faults 71 and 72, and 7, 8,
51, 59 and 67 for this path. A real podman is asked in tests/e2e/test_podman.py.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from moonpad.facts.processes import send_signal
from moonpad.run.keeper_client import tell
from moonpad.store.run_folder import RunFolder
from tests.conftest import LAUNCH, ROOT, Moonpad
from tests.faults.helpers import (
    await_event,
    await_gone,
    await_state,
    cmdline_of,
    events_of,
    everybody,
    interrupt_after,
    keeper_document,
    keeper_of,
    run_folder,
    set_launch,
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


def test_up_status_down(moonpad: Moonpad, docker: Docker, image_spec: Path, free_port: int) -> None:
    docker.start()
    docker.run_other()
    run = up(moonpad, image_spec)
    assert set(docker.running()) == {f"moonpad-{run}", OTHER}
    (argv,) = [call for call in docker.calls("run") if OTHER not in call]
    assert argv[argv.index("--publish") + 1] == f"127.0.0.1:{free_port}:{free_port}"
    assert argv[argv.index(IMAGE) :][:3] == [IMAGE, "serve", "/checkpoint"]
    assert argv[argv.index("--host") + 1] == "0.0.0.0"
    assert state_of(moonpad) == "ready"
    again = moonpad("up", str(image_spec), "--json")
    assert (again.code, again.json["changed"]) == (0, False)
    about = json.loads((moonpad.state / "runs" / run / "run.json").read_text())
    assert about["engine_version"] is None, "the engine in the image was not asked"
    down = moonpad("down", "fake", "--json")
    assert (down.code, down.json["was_up"], down.json["killed"]) == (0, True, 0)
    assert docker.running() == [OTHER]
    assert docker.stopped() == {f"moonpad-{run}"}
    calls_before = len(docker.calls("ps"))
    assert state_of(moonpad) == "stopped"
    assert len(docker.calls("ps")) == calls_before, "what the keeper ended is not asked for again"


# --- the client is killed (71) ---------------------------------------------------------------------------------------


def test_client_killed(moonpad: Moonpad, docker: Docker, image_spec: Path, free_port: int) -> None:
    """The container goes on, with another client for it; nothing is stopped, and no second one is made."""
    docker.start()
    docker.run_other()
    run = up(moonpad, image_spec)
    container = docker.id_of(f"moonpad-{run}")
    for count in (1, 2):
        client = client_of(moonpad)
        send_signal(*client, signal.SIGKILL)
        await_event(moonpad, "reattached", count=count)
        docker.await_attached(count)
        wait_until(lambda client=client: client_of(moonpad) != client, lambda: "the old root", 5.0)  # type: ignore[misc]
        assert serves(free_port)
        status = await_state(moonpad, "ready")
        assert status["pid"] == client_of(moonpad)[0]
    assert cmdline_of(client_of(moonpad)[0]).endswith(f"attach --no-stdin moonpad-{run}")
    assert docker.id_of(f"moonpad-{run}") == container
    assert len(docker.calls("run")) == 2, "ours and the other one"
    assert docker.stopped() == set()
    down = moonpad("down", "fake", "--json")
    assert (down.code, down.json["killed"]) == (0, 0), "INT went through the client that came later"
    assert docker.running() == [OTHER]
    assert docker.stopped() == {f"moonpad-{run}"}


def test_client_killed_before_ready(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """`up` goes on waiting, and gets what it waits for."""
    docker.start(FAKE_LOAD_S="2")
    starting = moonpad.start("up", str(image_spec), "--json")
    await_event(moonpad, "phase")
    send_signal(*client_of(moonpad), signal.SIGKILL)
    stdout, stderr = starting.communicate(timeout=60)
    assert starting.returncode == 0, stderr
    assert len(events_of(moonpad, "reattached")) == 1
    assert docker.running() == [f"moonpad-{json.loads(stdout)['run']}"]
    assert moonpad("down").code == 0


def test_client_killed_before_its_container_runs(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """A container that was made and is never started: nothing runs, and it is taken away."""
    docker.start()
    starting = moonpad.start("up", str(image_spec), FAKE_START_DELAY_S="30")
    wait_until(docker.created, lambda: "no container is made", 20.0)
    send_signal(*client_of(moonpad), signal.SIGKILL)
    _, stderr = starting.communicate(timeout=60)
    assert starting.returncode == 4
    assert "SIGKILL" in stderr
    assert docker.created() == []
    assert state_of(moonpad) == "failed"


def test_no_other_client_for_it(moonpad: Moonpad, docker: Docker, image_spec: Path, free_port: int) -> None:
    """It runs, and no client can attach to it (it is paused): tried again and again, with pauses that grow."""
    docker.start()
    done = moonpad("up", str(image_spec), FAKE_ATTACH_REFUSED="1")
    assert done.code == 0, done.stderr
    send_signal(*client_of(moonpad), signal.SIGKILL)
    await_event(moonpad, "reattached", count=6, limit_s=60.0)
    tries_s = [event["t_s"] for event in events_of(moonpad, "reattached")]
    assert tries_s[5] - tries_s[4] >= 1.0
    assert serves(free_port)
    assert moonpad("down").code == 0
    assert docker.running() == []


def test_stopped_from_outside(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """`docker stop` by another user: it has ended, and is reported as ended."""
    docker.start()
    docker.run_other()
    run = up(moonpad, image_spec)
    docker.call("stop", "-t", "2", f"moonpad-{run}").communicate(timeout=20)
    status = await_state(moonpad, "failed")
    assert "engine ended" in status["because"]
    assert events_of(moonpad, "reattached") == []
    assert docker.running() == [OTHER]
    assert moonpad("down", "--json").json["was_up"] is False


def test_stopped_from_outside_without_a_client(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """The client that came later says how it ended, as the first one would."""
    docker.start()
    run = up(moonpad, image_spec)
    send_signal(*client_of(moonpad), signal.SIGKILL)
    docker.await_attached()
    docker.call("rm", "--force", f"moonpad-{run}").communicate(timeout=20)
    assert "exit 137" in await_state(moonpad, "failed")["because"]


def test_restarted_under_the_same_name(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """A generation's container is removed before the next one is made."""
    set_launch(image_spec, restarts=1)
    docker.start()
    run = up(moonpad, image_spec)
    first = docker.id_of(f"moonpad-{run}")
    docker.call("stop", "-t", "0", f"moonpad-{run}").communicate(timeout=20)
    await_generation(moonpad, 2)
    assert docker.id_of(f"moonpad-{run}") != first
    assert docker.running() == [f"moonpad-{run}"]
    assert moonpad("down").code == 0
    assert docker.running() == []


# --- Ctrl-C (7) ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
def test_ctrl_c(moonpad: Moonpad, docker: Docker, image_spec: Path, seed: int) -> None:
    """Fault 7 for this path: wherever it strikes, before, in or after the client's request, no container is left."""
    docker.start(FAKE_LOAD_S="1.5")
    docker.run_other()
    code = interrupt_after(moonpad, image_spec, random.Random(seed).uniform(0.5, 3.0))
    assert code in (130, 0, -2)
    if code == 0:
        moonpad("down", "fake")
    assert docker.running() == [OTHER]


# --- the keeper is killed (8) ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("client_too", [False, True])
def test_keeper_killed(moonpad: Moonpad, docker: Docker, image_spec: Path, client_too: bool) -> None:
    """Status asks for the container by its label, `down` ends it and no other."""
    docker.start(FAKE_IGNORE_TERM="1")
    docker.run_other()
    run = up(moonpad, image_spec)
    processes = everybody(moonpad)
    client, began = client_of(moonpad)
    pid, start = keeper_of(moonpad)
    send_signal(pid, start, signal.SIGKILL)
    await_gone({pid: start}, 5.0)
    if client_too:
        send_signal(client, began, signal.SIGKILL)
        await_gone(processes, 15.0)
    status = status_of(moonpad)
    assert (status["state"], f"moonpad-{run} still runs" in status["because"]) == ("unattended", True)
    assert docker.calls("ps")[-1][2] == f"label=moonpad.run={run}"
    again = moonpad("up", str(image_spec), "--json")
    assert again.code == 0, again.stderr
    assert again.json["changed"] is False, "adopted, never doubled"
    down = moonpad("down", "--json")
    assert (down.code, down.json["was_up"]) == (0, True), down.stderr
    assert docker.running() == [OTHER]
    assert docker.stopped() == {f"moonpad-{run}"}
    assert state_of(moonpad) == "stopped"
    assert moonpad("down", "--json").json["was_up"] is False


# --- the daemon goes away (72) ---------------------------------------------------------------------------------------


def test_daemon_restarted(moonpad: Moonpad, docker: Docker, image_spec: Path, free_port: int) -> None:
    """Away for a while, the engine serving all the time: its state is asked for, no second container is made."""
    docker.start()
    docker.run_other()
    run = up(moonpad, image_spec)
    container = docker.id_of(f"moonpad-{run}")
    client = client_of(moonpad)
    calls_before = len(docker.calls("ps"))
    docker.kill()
    await_gone(dict([client]), 10.0)
    # Asked three times and more with nobody there: how it is, is not known, and nothing is done about it.
    wait_until(lambda: len(docker.calls("ps")) >= calls_before + 3, lambda: "nobody asks", 20.0)
    assert serves(free_port)
    assert state_of(moonpad) in ("ready", "unattended")
    assert events_of(moonpad, "stopping") == []
    docker.start()
    docker.await_attached()
    await_state(moonpad, "ready")
    assert docker.id_of(f"moonpad-{run}") == container
    assert len(docker.calls("run")) == 2, "ours and the other one"
    assert docker.stopped() == set()
    assert moonpad("down").code == 0
    assert docker.running() == [OTHER]


def test_daemon_restarted_during_the_start(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    docker.start(FAKE_LOAD_S="2")
    starting = moonpad.start("up", str(image_spec), "--json")
    await_event(moonpad, "phase")
    client = client_of(moonpad)
    docker.kill()
    await_gone(dict([client]), 10.0)
    docker.start()
    _, stderr = starting.communicate(timeout=60)
    assert starting.returncode == 0, stderr
    assert len(docker.calls("run")) == 1
    assert moonpad("down").code == 0


def test_daemon_that_takes_its_containers_with_it(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """Without live-restore: once it is back it says that nothing runs, and that is an end like any other."""
    set_launch(image_spec, restarts=1)
    docker.start()
    run = up(moonpad, image_spec)
    client = client_of(moonpad)
    docker.end()
    await_gone(dict([client]), 10.0)
    docker.start()
    await_generation(moonpad, 2)
    assert events_of(moonpad, "reattached") == []
    assert docker.running() == [f"moonpad-{run}"]
    assert len(docker.calls("run")) == 2
    assert moonpad("down").code == 0


def test_daemon_away_during_down(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """What stops the container is tried until the daemon is there."""
    set_launch(image_spec, stop_grace="20s")
    docker.start()
    run = up(moonpad, image_spec)
    docker.kill()
    stopping = moonpad.start("down", "fake", "--json")
    wait_until(lambda: len(docker.calls("rm")) >= 2, lambda: "nobody tries", 20.0)
    assert stopping.poll() is None, "nobody says that it is down"
    docker.start()
    stdout, stderr = stopping.communicate(timeout=60)
    assert stopping.returncode == 0, stderr
    assert json.loads(stdout)["was_up"] is True
    assert docker.running() == []
    assert docker.stopped() == {f"moonpad-{run}"}
    assert state_of(moonpad) == "stopped"


def test_daemon_away_for_good(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """`down` does not know, and says so, until the daemon answers; meanwhile nothing is started in its place."""
    docker.start()
    run = up(moonpad, image_spec)
    docker.kill()
    for _ in range(2):
        down = moonpad("down", "fake")
        assert down.code == 6
        assert "the container of fake may still run" in down.stderr
        assert keeper_document(moonpad)["after_stop"], "it is still to be done"
    assert state_of(moonpad) == "unattended"
    assert moonpad("up", str(image_spec)).code in (0, 3, 6), "adopted or refused, never doubled"
    docker.start()
    assert docker.running() == [f"moonpad-{run}"]
    assert f"moonpad-{run} still runs" in status_of(moonpad)["because"]
    assert moonpad("down", "fake").code == 0
    assert docker.running() == []
    assert state_of(moonpad) == "stopped"
    assert len(docker.calls("run")) == 1


def test_no_restart_while_nobody_can_say(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """The gang has ended, what it may have left cannot be removed: another container beside it is never started."""
    set_launch(image_spec, restarts=3)
    docker.start()
    up(moonpad, image_spec)
    docker.kill()
    pid, start = keeper_of(moonpad)
    assert tell(RunFolder("fake", run_folder(moonpad)), "cycle", reason="hung, says the controller")["ok"]
    await_gone({pid: start}, 60.0)
    document = keeper_document(moonpad)
    assert (document["state"], document["generation"], bool(document["after_stop"])) == ("failed", 1, True)
    docker.start()
    assert len(docker.calls("run")) == 1
    assert moonpad("down", "fake").code == 0
    assert docker.running() == []


def test_daemon_away_and_nobody_left(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """No keeper, no client, no daemon: not taken for stopped."""
    docker.start(FAKE_IGNORE_TERM="1")
    up(moonpad, image_spec)
    processes = everybody(moonpad)
    for pid, start in processes.items():
        send_signal(pid, start, signal.SIGKILL)
    await_gone(processes, 5.0)
    docker.end()
    assert state_of(moonpad) == "unattended"
    down = moonpad("down", "fake")
    assert down.code == 6
    assert "Cannot connect to the Docker daemon" in down.stderr
    docker.start()
    assert state_of(moonpad) == "failed", "the daemon took the container with it"
    assert moonpad("down", "fake").code == 0
    assert state_of(moonpad) == "stopped"


@pytest.mark.slow
def test_daemon_that_does_not_answer(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """It hangs: no command of ours does."""
    docker.start()
    up(moonpad, image_spec)
    assert docker.daemon is not None
    send_signal(*client_of(moonpad), signal.SIGKILL)
    docker.await_attached()
    docker.daemon.send_signal(signal.SIGSTOP)
    try:
        assert state_of(moonpad) in ("ready", "unattended")
        pid, start = keeper_of(moonpad)
        send_signal(pid, start, signal.SIGKILL)
        await_gone({pid: start}, 5.0)
        assert "timed out" in status_of(moonpad)["because"]
    finally:
        docker.daemon.send_signal(signal.SIGCONT)
    assert moonpad("down", "fake").code == 0
    assert docker.running() == []


# --- what stands in the client's arguments ---------------------------------------------------------------------------


def test_hostile_names(moonpad: Moonpad, docker: Docker, image_spec: Path) -> None:
    """Fault 51 for this path: a folder and a name arrive at the daemon and the engine as they stand in the spec."""
    text = "a,\"b' $(touch pwned)"
    # Copied: what a container gets to see may hold no link that leads out.
    model = shutil.copytree(ROOT / "src" / "moonpad" / "catalog" / "kimi-k2-tiny", moonpad.home / text)
    spec = image_spec.read_text().replace('"kimi-k2-tiny"', json.dumps(f"./{text}"), 1)
    image_spec.write_text(f"served_name = {json.dumps(text)}\n{spec}")
    docker.start()
    up(moonpad, image_spec)
    (argv,) = docker.calls("run")
    inside = argv[argv.index(IMAGE) :]
    assert inside[inside.index("--served-model-name") + 1] == text
    field = f"src={model}".replace('"', '""')
    assert argv[argv.index("--mount") + 1] == f'type=bind,"{field}",dst=/checkpoint,readonly'
    assert not list(moonpad.home.parent.rglob("pwned"))
    assert moonpad("down").code == 0


def test_key_never_in_argv(moonpad: Moonpad, docker: Docker, image_spec: Path, free_port: int) -> None:
    """Fault 59: the key reaches the engine through the client's environment, and stands nowhere else."""
    canary = "canary-5be1f0"
    image_spec.write_text(image_spec.read_text().replace("[endpoint]", '[endpoint]\napi_key_env = "CANARY_KEY"'))
    docker.start()
    moonpad.env["CANARY_KEY"] = canary
    up(moonpad, image_spec)
    request = urllib.request.Request(f"http://127.0.0.1:{free_port}/v1/completions", b"{}")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(request, timeout=5)
    shown = (docker.place / "calls.jsonl").read_text()
    send_signal(*client_of(moonpad), signal.SIGKILL)
    docker.await_attached()
    for pid in everybody(moonpad):
        shown += cmdline_of(pid)
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
    podman = docker.place / "podman"  # before one that this machine may have
    podman.write_text("#!/bin/sh\nexit 125\n")
    podman.chmod(0o755)
    done = moonpad("up", str(image_spec))
    assert done.code == 3
    assert "Cannot connect to the Docker daemon" in done.stderr
    assert not list(moonpad.state.glob("runs/*"))
