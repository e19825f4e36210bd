"""The proof that nothing is left is itself proven: each thing left is found, named and removed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.facts.processes import read_stat
from tests import world as world_module
from tests.world import World

DETACH = (
    "import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); "
    "open(os.environ['SAY'], 'w').write(str(os.getpid())); time.sleep(600)"
)


@pytest.fixture
def world(tmp_path: Path, free_port: int) -> Iterator[World]:
    """Whatever a test here left is gone at its end, or it would disturb others."""
    instance = World(tmp_path / "home", free_port)
    (instance.home / "state" / "moonpad" / "endpoints").mkdir(parents=True)
    yield instance
    instance.sweep(0.2)
    assert not instance.sweep(0.2)


def test_nothing_is_left(world: World) -> None:
    process = subprocess.Popen((sys.executable, "-c", "pass"))
    assert world.sweep() == []
    process.wait()


@pytest.mark.parametrize("when", ["before", "in the test"])
def test_a_place_of_a_run_whose_keeper_wrote_nothing_down(
    tmp_path: Path, free_port: int, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Known by its keeper's pid, which may be a process's of long ago: what was there before is not the test's."""
    process = subprocess.Popen((sys.executable, "-I", "-S", "-c", "input()"), stdin=subprocess.PIPE)
    place = tmp_path / f"moonpad-0-{process.pid}-3f83"
    monkeypatch.setattr(world_module, "_places", lambda: iter([(process.pid, place)] if place.exists() else []))
    if when == "before":
        place.mkdir()
    world = World(tmp_path / "home", free_port)
    place.mkdir(exist_ok=True)
    process.communicate()
    world.ended.add(process.pid)
    assert world.sweep(0.2) == ([] if when == "before" else [f"{place} is left"])


def test_a_process(world: World) -> None:
    process = subprocess.Popen((sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"))
    (left,) = world.sweep(0.2)
    assert f"process {process.pid} is left" in left
    assert "time.sleep(600)" in left
    assert world.sweep(0.2) == []


def test_a_process_that_has_detached_itself(world: World, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    subprocess.run((sys.executable, "-I", "-S", "-c", DETACH), env={"SAY": str(pid_file)}, check=True)
    while not pid_file.exists() or not pid_file.read_text():
        pass
    (left,) = world.sweep(0.2)
    assert f"process {pid_file.read_text()} is left" in left


@pytest.mark.parametrize("by", ["environment", "folder", "open file", "command"])
def test_a_process_that_is_not_below_us(world: World, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    """Known by the home that only this test has."""
    there = world.home / "open"
    with there.open("w") as file:
        process = subprocess.Popen(
            (sys.executable, "-I", "-S", "-c", "input()", *([str(world.home)] if by == "command" else [])),
            env={"HOME": str(world.home)} if by == "environment" else {},
            cwd=world.home if by == "folder" else "/",
            stdin=subprocess.PIPE,
            stdout=file if by == "open file" else subprocess.DEVNULL,
        )
    with monkeypatch.context() as patch:
        patch.setattr("tests.world.find_descendants", lambda roots: {})
        (left,) = world.sweep(0.2)
    assert f"process {process.pid} is left" in left


def test_what_was_there_before_is_not_ours(tmp_path: Path, free_port: int) -> None:
    with subprocess.Popen((sys.executable, "-I", "-S", "-c", "input()"), stdin=subprocess.PIPE, cwd=tmp_path) as other:
        assert World(tmp_path, free_port).sweep(0.2) == []
        assert other.poll() is None
        other.kill()


def test_a_port(world: World) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", world.port))
        sock.listen()
        assert world.sweep(0.2) == [f"port {world.port} is still served"]


def test_files(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks, shared memory, ipc sockets, the temporary folder of a run, half-written files; those of others stay."""
    monkeypatch.setattr(world_module, "MACHINE_LOCKS", tmp_path / "locks")
    monkeypatch.setattr(world_module, "SHARED_MEMORY", tmp_path / "shm")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    state = world.home / "state" / "moonpad"
    run = state / "runs" / "fake-1"
    ours = [
        state / "endpoints" / "fake.lock",
        tmp_path / "locks" / f"port-{world.port}.lock",
        tmp_path / "shm" / f"psm_moonpad_{world.port}_17",
        tmp_path / "shm" / f"sem.mp-moonpad_{world.port}_18",
        tmp_path / "tmp" / f"fake-engine-{world.port}-19",
        tmp_path / "tmp" / "moonpad-of-the-run" / "socket",
        tmp_path / "shm" / "psm_of_the_run",
        run / "keeper.json.4711.part",
        state / "endpoints" / "fake.json.4711.part",
    ]
    others = [
        tmp_path / "locks" / f"port-{world.port}1.lock",
        tmp_path / "shm" / f"psm_moonpad_{world.port}1_17",
        tmp_path / "shm" / "psm_of_another_run",
        tmp_path / "tmp" / f"fake-engine-{world.port}1-19",
        tmp_path / "tmp" / "moonpad-of-another-run" / "socket",
        state / "endpoints" / "fake.json",
    ]
    for path in (*ours, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (run / "keeper.json").write_text(
        json.dumps(
            {
                "temp_dir": str(tmp_path / "tmp" / "moonpad-of-the-run"),
                "cgroup": "",
                "shared_memory": [str(tmp_path / "shm" / "psm_of_the_run")],
            }
        )
    )
    named = [path.parent if path.name == "socket" else path for path in ours]
    assert sorted(world.sweep(0.2)) == sorted(f"{path} is left" for path in named)
    assert not any(path.exists() for path in ours)
    assert all(path.exists() for path in others)


@pytest.mark.parametrize("what", ["process", "port", "lock", "shared memory"])
def test_the_fixture_fails(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """`clean_world` as the tests use it: what one of them leaves is an error of that test."""
    monkeypatch.setattr("tests.world.SETTLE_S", 0.2)
    lines = {
        "process": "subprocess.Popen(('sleep', '600'))",
        "port": "KEPT.append(socket.create_server(('127.0.0.1', free_port)))",
        "lock": "place(moonpad.state / 'endpoints' / 'fake.lock')",
        "shared memory": "place(Path(f'/dev/shm/psm_moonpad_{free_port}_1'))",
    }
    pytester.makeconftest("from tests.conftest import clean_world, free_port, moonpad")
    pytester.makepyfile(
        f"""
        import socket, subprocess
        from pathlib import Path

        KEPT = []

        def place(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

        def test_that_leaves(moonpad, free_port, clean_world):
            {lines[what]}

        def test_that_does_not(moonpad, free_port, clean_world):
            subprocess.run(("true",), check=True)
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=2, errors=1)


pytest_plugins = ("pytester",)


def test_a_zombie_is_collected(world: World) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert world.sweep() == []
    assert read_stat(child) is None


def test_a_process_that_is_ending_has_its_time(world: World) -> None:
    process = subprocess.Popen(
        (sys.executable, "-I", "-S", "-c", "import time; time.sleep(0.3)"), start_new_session=True
    )
    assert world.sweep(5.0) == []
    process.wait()
    assert process.returncode != -signal.SIGKILL
