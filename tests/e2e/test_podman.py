"""Containers as a real podman runs them, with the fake engine in an image: killed in each known way at drawn moments,
no container, volume or port is left. Faults 71 and 72, and 7, 8, 51 and 59 for this path.

    eval "$(python scripts/container_images.py fake | grep export)"
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moonpad.facts.processes import read_stat, send_signal
from tests.conftest import LAUNCH, Moonpad, one_and_drawn
from tests.e2e.podman import FAKE, Podman, find_podman
from tests.faults.helpers import await_event, await_state, events_of, everybody, keeper_of, run_folder, wait_until

LOAD_S = 3.0

pytestmark = pytest.mark.slow


@pytest.fixture
def podman(moonpad: Moonpad, clean_world: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Podman]:
    """What its containers get as environment makes a start slower; at the end nothing of them is left."""
    podman = find_podman(moonpad.env, tmp_path, FAKE, f"FAKE_LOAD_S={LOAD_S}")
    moonpad.env["CONTAINERS_CONF"] = podman.env["CONTAINERS_CONF"]
    before = podman.left()
    yield podman
    assert podman.left() == before


def state_of(podman: Podman, run: str, field: str) -> int:
    return int(podman("inspect", "--format", f"{{{{.State.{field}}}}}", f"moonpad-{run}"))


def ours(podman: Podman) -> list[str]:
    return podman("ps", "--all", "--filter", "label=moonpad.run", "--format", "{{.Names}}").split()


@pytest.fixture
def spec(moonpad: Moonpad, podman: Podman, free_port: int) -> Path:
    spec = moonpad.home / "fake.toml"
    launch = "".join(f"{name} = {json.dumps(value)}\n" for name, value in LAUNCH.items())
    spec.write_text(
        f'model = "kimi-k2-tiny"\n\n[engine]\nname = "vllm-cpu"\nimage = "{podman.reference(FAKE)}"\n\n'
        f"[endpoint]\nport = {free_port}\n\n[launch]\n{launch}"
    )
    return spec


def kill(pid: int) -> None:
    found = read_stat(pid)
    assert found is not None, pid
    send_signal(pid, found[1], signal.SIGKILL)


# --- the ways to be killed -------------------------------------------------------------------------------------------


def client(moonpad: Moonpad, podman: Podman, run: str) -> None:
    (root,) = json.loads((run_folder(moonpad) / "keeper.json").read_text())["roots"]
    send_signal(root["pid"], root["start"], signal.SIGKILL)


def engine(moonpad: Moonpad, podman: Podman, run: str) -> None:
    kill(state_of(podman, run, "Pid"))


def monitor(moonpad: Moonpad, podman: Podman, run: str) -> None:
    """conmon, which holds a container's output and waits for its end."""
    kill(state_of(podman, run, "ConmonPid"))


def stopped(moonpad: Moonpad, podman: Podman, run: str) -> None:
    podman("stop", "-t", "1", f"moonpad-{run}")


def removed(moonpad: Moonpad, podman: Podman, run: str) -> None:
    podman("rm", "--force", "-t", "0", f"moonpad-{run}")


def keeper(moonpad: Moonpad, podman: Podman, run: str) -> None:
    send_signal(*keeper_of(moonpad), signal.SIGKILL)


def all_of_ours(moonpad: Moonpad, podman: Podman, run: str) -> None:
    """As a user who ends what he finds, and as the end of a session does; the container is no child of ours."""
    for pid, start in everybody(moonpad).items():
        send_signal(pid, start, signal.SIGKILL)


def with_its_engine(moonpad: Moonpad, podman: Podman, run: str) -> None:
    engine(moonpad, podman, run)
    all_of_ours(moonpad, podman, run)


WAYS: tuple[Callable[[Moonpad, Podman, str], None], ...] = (
    client,
    engine,
    monitor,
    stopped,
    removed,
    keeper,
    all_of_ours,
    with_its_engine,
)


def is_free(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) != 0


def name_of(podman: Podman) -> str:
    """The run's id, from its container."""
    names: list[str] = []

    def there() -> bool:
        names[:] = podman("ps", "--filter", "label=moonpad.run", "--format", "{{.Names}}").split()
        return bool(names)

    wait_until(there, lambda: "no container", 30.0)
    return names[0].removeprefix("moonpad-")


@pytest.mark.parametrize("seed", one_and_drawn(range(3)))
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_killed(
    moonpad: Moonpad,
    podman: Podman,
    spec: Path,
    free_port: int,
    way: Callable[[Moonpad, Podman, str], None],
    seed: int,
) -> None:
    """While it loads or serves; `down` afterwards ends what lives on, and says so."""
    drawn = random.Random(f"{way.__name__} {seed}")
    starting = moonpad.start("up", str(spec), "--json")
    run = name_of(podman)
    await_event(moonpad, "spawned")
    time.sleep(drawn.uniform(0, 2 * LOAD_S))
    way(moonpad, podman, run)
    stdout, stderr = starting.communicate(timeout=60)
    assert starting.returncode in (0, 4, 6, -signal.SIGKILL), stderr
    assert "Traceback" not in stdout + stderr
    if way is client:
        assert starting.returncode == 0, stderr
        await_state(moonpad, "ready")
    elif way in (engine, stopped, removed):
        assert await_state(moonpad, "failed")["because"]
    down = moonpad("down", "fake", "--json")
    assert down.code == 0, down.stderr
    assert ours(podman) == []
    assert is_free(free_port)
    assert moonpad("up", str(spec), "--json").code == 0, "it can be started again"
    assert moonpad("down", "fake").code == 0


@pytest.mark.parametrize("seed", one_and_drawn(range(6)))
def test_ctrl_c(moonpad: Moonpad, podman: Podman, spec: Path, free_port: int, seed: int) -> None:
    starting = moonpad.start("up", str(spec))
    time.sleep(random.Random(seed).uniform(0.2, 2 * LOAD_S))
    os.killpg(starting.pid, signal.SIGINT)
    _, stderr = starting.communicate(timeout=60)
    assert starting.returncode in (0, 130, -signal.SIGINT), stderr
    if starting.returncode == 0:
        moonpad("down", "fake")
    assert ours(podman) == []
    assert is_free(free_port)


def test_a_restart(moonpad: Moonpad, podman: Podman, spec: Path) -> None:
    """The next generation's container has the same name; the one before it is gone by then."""
    spec.write_text(spec.read_text().replace("restarts = 0", "restarts = 1"))
    up = moonpad("up", str(spec), "--json")
    assert up.code == 0, up.stderr
    kill(state_of(podman, up.json["run"], "Pid"))
    wait_until(lambda: any(event.get("generation") == 2 for event in events_of(moonpad, "ready")), lambda: "", 40.0)
    assert ours(podman) == [f"moonpad-{up.json['run']}"]
    assert moonpad("down", "fake").code == 0
