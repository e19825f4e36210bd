"""An engine in a container image, against a fake docker whose daemon owns the containers. Fault 71, and 7, 8, 51,
59 and 67 for this path; 72 is in test_container_daemon.py. A real podman is asked in tests/e2e/test_podman.py.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from moonpad.facts.processes import send_signal
from tests.conftest import ROOT, Moonpad
from tests.faults.container_world import (
    IMAGE,
    OTHER,
    Docker,
    await_generation,
    client_of,
    docker,
    image_spec,
    serves,
    state_of,
    up,
)
from tests.faults.helpers import (
    await_event,
    await_gone,
    await_state,
    cmdline_of,
    events_of,
    everybody,
    interrupt_after,
    keeper_of,
    set_launch,
    status_of,
    wait_until,
)

__all__ = ["docker", "image_spec"]


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
