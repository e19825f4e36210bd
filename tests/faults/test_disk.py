"""Fault 24: the disk is full, for results and for state. What was reported as saved is there, and nothing is half."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from moonpad.bench.config import BenchConfig
from moonpad.bench.run import BenchProgress, measure
from moonpad.facts.processes import find_descendants, is_alive
from moonpad.load.event_loop import run_in_loop
from moonpad.store.atomic_files import append_line, read_json, read_lines, replace_json
from moonpad.store.run_folder import create_run
from moonpad.values.errors import CheckFailed
from tests.conftest import Moonpad
from tests.faults.helpers import (
    await_gone,
    await_state,
    cmdline_of,
    everybody,
    keeper_of,
    owned_of,
    pid_of_role,
    run_folder,
    set_launch,
    status_of,
    streams,
    wait_until,
)
from tests.faults.mounts import leave_free, mount_tmpfs, own_mounts, remount_tmpfs
from tests.faults.streaming_server import Script, answer, streaming_server

ROOMY = 2 << 30
SMALL = 256 << 10


@dataclass(frozen=True)
class Disk:
    """A tmpfs of its own. It is full when it is no larger than what is on it."""

    path: Path

    @property
    def free_bytes(self) -> int:
        seen = os.statvfs(self.path)
        return seen.f_bavail * seen.f_frsize

    def leave(self, free_bytes: int) -> None:
        """That much is free from now on. Where others write meanwhile, less."""
        leave_free(self.path, free_bytes)

    def fill(self) -> None:
        """Not one page is free."""
        self.leave(0)

    def grow(self, size_bytes: int = ROOMY) -> None:
        remount_tmpfs(self.path, f"size={size_bytes}")


def mounted(where: Path, size_bytes: int) -> Iterator[Disk]:
    if os.geteuid() != 0:
        pytest.skip("only root mounts a small disk; test_as_root_of_a_namespace does it for others")
    where.mkdir(parents=True, exist_ok=True)
    try:
        mount_tmpfs(where, size_bytes)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no small disk can be mounted here: {error}")
    try:
        yield Disk(where)
    finally:
        subprocess.run(("umount", "--lazy", str(where)), check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A small disk."""
    yield from mounted(tmp_path / "disk", SMALL)


@pytest.fixture
def state_disk(moonpad: Moonpad) -> Iterator[Disk]:
    """The disk that the command's state is on, and nothing else. Ask for it before `clean_world`."""
    yield from mounted(moonpad.home / "state", ROOMY)


@pytest.mark.skipif(os.geteuid() == 0, reason="root mounts its small disks itself")
def test_as_root_of_a_namespace(tmp_path: Path) -> None:
    """The rest of this file, for a user who may mount in a namespace of his own."""
    if not (prefix := own_mounts()):
        pytest.skip("neither root, nor allowed to make a namespace in which one is")
    options = ("-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'nested'}")
    command = (*prefix, sys.executable, "-m", "pytest", *options, __file__)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


# --- results ---------------------------------------------------------------------------------------------------------


def bench(out: Path, requests: int, on_progress: list[BenchProgress]) -> None:
    async def run() -> None:
        async with streaming_server(lambda number: answer(30)) as server:
            config = BenchConfig(input_tokens=20, requests=requests, concurrency=8, warmup=0)
            await measure(server.endpoint, config, out_dir=out, on_progress=on_progress.append)

    run_in_loop(run())


def saved(out: Path) -> list[int]:
    """The requests in the file, of which each line must be whole."""
    text = (out / "requests.jsonl").read_bytes()
    assert text.endswith(b"\n")
    return [json.loads(line)["index"] for line in text.splitlines()]


def test_a_benchmark_fills_the_disk(disk: Disk) -> None:
    """What was acknowledged is there, line by line, and nothing else."""
    out = disk.path / "run"
    seen: list[BenchProgress] = []
    with pytest.raises(CheckFailed, match="No space left on device") as failed:
        bench(out, 2000, seen)
    acknowledged = [step.record.index for step in seen if step.record is not None]
    assert len(acknowledged) > 20
    assert saved(out) == acknowledged
    assert f"{len(acknowledged)} requests are saved" in failed.value.message
    assert sorted(path.name for path in out.iterdir()) == ["requests.jsonl", "run.json"]


def test_the_result_of_a_benchmark_does_not_fit(disk: Disk) -> None:
    """The last request fitted: the lines are all there, and of the result nothing."""
    out = disk.path / "run"

    class FullAtTheEnd(list[BenchProgress]):
        def append(self, step: BenchProgress) -> None:
            super().append(step)
            if step.phase == "measure" and step.done == step.total:
                disk.fill()

    seen = FullAtTheEnd()
    with pytest.raises(CheckFailed, match=r"result\.json could not be written: No space left on device"):
        bench(out, 12, seen)
    assert sorted(saved(out)) == list(range(12))
    assert sorted(path.name for path in out.iterdir()) == ["requests.jsonl", "run.json"]


def test_the_bench_command_on_a_full_disk(disk: Disk, moonpad: Moonpad) -> None:
    """Exit 5, what is saved and where, one remedy, no traceback, and no figures that would be taken for the whole."""
    out = disk.path / "run"

    async def run() -> tuple[int | None, str, str]:
        script: Script = answer(30)
        async with streaming_server(lambda number: script) as server:
            url = ("--url", server.endpoint.base_url, "--model", "kimi-k2")
            size = ("--requests", "2000", "--concurrency", "8", "--warmup", "0")
            running = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "moonpad", "bench", *url, *size, "--out", str(out), "--json"),
                env=moonpad.env,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            stdout, stderr = await running.communicate()
            return running.returncode, stdout.decode(), stderr.decode()

    code, stdout, stderr = asyncio.run(run())
    assert (code, stdout) == (5, ""), stderr
    lines = saved(out)
    assert f"{len(lines)} requests are saved in {out / 'requests.jsonl'}" in stderr
    assert "free some space" in stderr
    assert "Traceback" not in stderr


# --- state -----------------------------------------------------------------------------------------------------------


def test_state_files_are_the_old_or_the_new_one(disk: Disk) -> None:
    """At every size of the room that is left, and no part is left beside them."""
    path = disk.path / "keeper.json"
    replace_json(path, {"number": 0})
    whole = {"number": 0}
    outcomes = set()
    for number in range(1, 60):
        disk.grow(SMALL)
        disk.leave(4096 * (number % 4))
        wanted = {"number": number, "text": "x" * (number * 300)}
        try:
            replace_json(path, wanted)
        except OSError as error:
            assert "No space left on device" in str(error)
            outcomes.add("old")
        else:
            whole = wanted
            outcomes.add("new")
        assert read_json(path) == whole
        assert [path.name for path in disk.path.iterdir()] == ["keeper.json"]
    assert outcomes == {"old", "new"}


def test_appended_lines_are_there_or_refused(disk: Disk) -> None:
    """A torn line is left out, and takes no other with it, when there is room again."""
    path = disk.path / "events.jsonl"
    acknowledged: list[int] = []
    refused = 0
    for number in range(300):
        if number % 50 == 20:
            disk.fill()
        if number % 50 == 40:
            disk.grow()
        try:
            append_line(path, {"number": number, "text": "x" * (number % 7 * 150)})
        except OSError:
            refused += 1
        else:
            acknowledged.append(number)
    assert [record["number"] for record in read_lines(path)] == acknowledged
    assert refused > 10
    assert len(acknowledged) > 200
    assert acknowledged[-1] == 299


def test_a_run_folder_that_does_not_fit_is_not_there(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(disk.path))
    create_run("tiny")
    disk.fill()
    with pytest.raises(OSError, match="No space left on device"):
        create_run("tiny")
    assert len(list((disk.path / "moonpad" / "runs").iterdir())) == 1


# --- runs ------------------------------------------------------------------------------------------------------------


def test_up_is_refused_where_logs_have_no_room(
    moonpad: Moonpad, state_disk: Disk, clean_world: None, fake_spec: Path
) -> None:
    """With the numbers and a way out; nothing was started, and nothing is written."""
    state_disk.leave(64 << 10)
    up = moonpad("up", str(fake_spec))
    assert up.code == 3, up.stderr
    assert re.search(r"\d .?iB is free where logs and results go, 1\.00 GiB is needed", up.stderr), up.stderr
    assert "XDG_STATE_HOME" in up.stderr
    state_disk.fill()
    assert moonpad("up", str(fake_spec)).code == 3
    assert not list(state_disk.path.rglob("*.json*"))


def test_up_is_refused_where_no_file_can_be_made(
    moonpad: Moonpad, state_disk: Disk, clean_world: None, fake_spec: Path
) -> None:
    """Room, and no inode for it (or a quota that no number shows): the attempt says so."""
    remount_tmpfs(state_disk.path, "nr_inodes=3")
    up = moonpad("up", str(fake_spec))
    assert up.code == 3, up.stderr
    assert "No space left on device" in up.stderr
    assert "Traceback" not in up.stderr
    assert not [path for path in state_disk.path.rglob("*") if path.is_file()]


def test_a_run_outlives_a_full_disk(
    moonpad: Moonpad, state_disk: Disk, clean_world: None, fake_spec: Path, free_port: int
) -> None:
    """It is served, and told as it is. What happens meanwhile is written down when there is room, with its own time."""
    assert moonpad("up", str(fake_spec)).code == 0
    engine = owned_of(moonpad)
    first = controllers_of(moonpad)
    fill_to_the_last_byte(state_disk, run_folder(moonpad))
    status = status_of(moonpad)
    assert (status["state"], status["pid"] in engine) == ("ready", True)
    (pid,) = first
    os.kill(pid, 9)
    wait_until(lambda: controllers_of(moonpad) - first, lambda: "no other controller", 20.0)
    assert streams(free_port, 2, 5).wait()[1].finished
    assert all(is_alive(pid, start) for pid, start in engine.items())
    assert "controller_ended" not in names(moonpad), "or the disk was not full"
    grown_s = time.monotonic()
    state_disk.grow()
    wait_until(lambda: names(moonpad).count("controller_started") == 2, lambda: str(names(moonpad)), 20.0)
    ended, started = last_event(moonpad, "controller_ended"), last_event(moonpad, "controller_started")
    assert ended["t_s"] < started["t_s"] < grown_s, "when it was, not when it could be written"
    assert moonpad("down", "fake").code == 0
    assert names(moonpad)[-1] == "stopped"


def test_an_engine_is_started_again_on_a_full_disk(
    moonpad: Moonpad, state_disk: Disk, clean_world: None, fake_spec: Path
) -> None:
    """The files are old then, and `status` is right all the same."""
    set_launch(fake_spec, restarts=2, restart_backoff="50ms")
    assert moonpad("up", str(fake_spec)).code == 0
    before = everybody(moonpad)
    fill_to_the_last_byte(state_disk, run_folder(moonpad))
    os.kill(pid_of_role(moonpad, "core"), 9)
    wait_until(lambda: status_of(moonpad)["restarts"] == 1, lambda: str(status_of(moonpad)), 20.0)
    assert await_state(moonpad, "ready")["restarts"] == 1
    assert keeper_of(moonpad)[0] in before
    state_disk.grow()
    wait_until(lambda: "generation 2" in spawned(moonpad), lambda: str(spawned(moonpad)), 20.0)
    wait_until(lambda: last_event(moonpad, "ready")["generation"] == 2, lambda: str(names(moonpad)), 20.0)
    order = [last_event(moonpad, name)["t_s"] for name in ("ended", "restarting", "spawned", "ready")]
    assert order == sorted(order)
    assert moonpad("down", "fake").code == 0


def test_down_on_a_full_disk(moonpad: Moonpad, state_disk: Disk, clean_world: None, fake_spec: Path) -> None:
    """Nothing is left, and the last word fits, because room for it was kept."""
    assert moonpad("up", str(fake_spec)).code == 0
    living = everybody(moonpad)
    fill_to_the_last_byte(state_disk, run_folder(moonpad))
    down = moonpad("down", "fake", "--json")
    assert (down.code, down.json["was_up"]) == (0, True), down.stderr
    await_gone(living, 1.0)
    status = status_of(moonpad)
    assert (status["state"], "asked to stop" in status["because"]) == ("stopped", True)


def test_down_after_the_keeper_on_a_full_disk(
    moonpad: Moonpad, state_disk: Disk, clean_world: None, fake_spec: Path
) -> None:
    """Nobody is there who kept room for a last word: nothing is left all the same, and nothing false is said."""
    set_launch(fake_spec, stop_grace="1s")
    assert moonpad("up", str(fake_spec), FAKE_IGNORE_TERM="1").code == 0
    living = everybody(moonpad)
    fill_to_the_last_byte(state_disk, run_folder(moonpad))
    os.kill(keeper_of(moonpad)[0], 9)
    down = moonpad("down", "fake", "--json")
    assert (down.code, down.json["was_up"]) == (0, True), down.stderr
    await_gone(living, 1.0)
    assert status_of(moonpad)["state"] in ("stopped", "failed")
    assert moonpad("down", "fake", "--json").json["was_up"] is False


def fill_to_the_last_byte(disk: Disk, run: Path) -> None:
    """No page is free, and the last one of the events has no room for a line."""
    disk.fill()
    events = run / "events.jsonl"
    with events.open("ab") as file:
        size = -events.stat().st_size % 4096
        text = json.dumps({"event": "padding", "t_s": 0.0, "text": ""}).encode()
        if size > len(text):
            file.write(text[:-2] + b"x" * (size - len(text) - 1) + text[-2:] + b"\n")
    disk.fill()


def names(moonpad: Moonpad) -> list[str]:
    return [str(event.get("event")) for event in read_lines(run_folder(moonpad) / "events.jsonl")]


def last_event(moonpad: Moonpad, name: str) -> dict[str, Any]:
    """The last one of that name."""
    events = [event for event in read_lines(run_folder(moonpad) / "events.jsonl") if event.get("event") == name]
    assert events, names(moonpad)
    return events[-1]


def controllers_of(moonpad: Moonpad) -> set[int]:
    """Those that live, by what they are: the files may be old."""
    below = find_descendants({keeper_of(moonpad)[0]})
    return {pid for pid in below if "moonpad.run.controller" in cmdline_of(pid)}


def spawned(moonpad: Moonpad) -> list[str]:
    events = read_lines(run_folder(moonpad) / "events.jsonl")
    return [f"generation {event['generation']}" for event in events if event.get("event") == "spawned"]
