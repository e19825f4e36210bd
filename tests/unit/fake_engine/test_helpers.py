"""The fault tests' own judge: what must never be so is seen, and what is sound passes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from moonpad.facts.processes import read_stat
from tests.conftest import Done, Moonpad
from tests.faults.helpers import comm_of, invariants, run_folder, set_launch, violations, wait_until

TITLED = (
    "import ctypes, sys; ctypes.CDLL(None).prctl(15, b'VLLM::Worker_TP0', 0, 0, 0); print('named', flush=True); input()"
)


@pytest.fixture
def engine() -> Iterator[tuple[int, int]]:
    """(pid, start time) of a process that has an engine's name."""
    argv = (sys.executable, "-I", "-S", "-c", TITLED)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seen = read_stat(process.pid)
        assert seen is not None
        yield process.pid, seen[1]
        process.kill()


def write_run(moonpad: Moonpad, name: str, engine: tuple[int, int] | None, state: str = "running", **more: Any) -> Path:
    folder = moonpad.state / "runs" / name
    folder.mkdir(parents=True)
    owned = [{"pid": engine[0], "start": engine[1]}] if engine else []
    nobody = {"pid": 1 << 22, "start": 1}
    document = {"state": state, "keeper": nobody, "controller": None, "owned": owned, **more}
    (folder / "keeper.json").write_text(json.dumps(document))
    (folder / "run.json").write_text(json.dumps({"base_url": "http://127.0.0.1:1/v1"}))
    (folder / "events.jsonl").write_text('{"event": "up"}\n')
    return folder


def test_sound(moonpad: Moonpad, engine: tuple[int, int]) -> None:
    write_run(moonpad, "fake-1", None, "failed")
    write_run(moonpad, "fake-2", engine)
    assert violations(moonpad) == []
    invariants(moonpad)


def test_owned_by_nobody(moonpad: Moonpad, engine: tuple[int, int]) -> None:
    (violation,) = violations(moonpad)
    assert violation.startswith(f"process {engine[0]} ")
    assert violation.endswith("is owned by no run")
    with pytest.raises(AssertionError, match="owned by no run"):
        invariants(moonpad, 0.1)


def test_owned_twice_and_served_twice(moonpad: Moonpad, engine: tuple[int, int]) -> None:
    write_run(moonpad, "fake-1", engine)
    write_run(moonpad, "fake-2", engine)
    assert violations(moonpad) == [
        f"process {engine[0]} is owned by fake-1 and fake-2",
        "http://127.0.0.1:1/v1 is served by fake-1 and fake-2",
    ]


@pytest.mark.parametrize("state", ["stopped", "failed", "waiting"])
def test_alive_after_the_end(moonpad: Moonpad, engine: tuple[int, int], state: str) -> None:
    write_run(moonpad, "fake-1", engine, state)
    assert violations(moonpad) == [f"fake-1 is {state}, and 1 processes of its engine live"]


@pytest.mark.parametrize(("name", "text"), [("run.json", "{"), ("keeper.json", "[]"), ("events.jsonl", '{"event": "u')])
def test_unreadable(moonpad: Moonpad, name: str, text: str) -> None:
    folder = write_run(moonpad, "fake-1", None, "stopped")
    (folder / name).write_text(text)
    (violation,) = violations(moonpad)
    assert str(folder / name) in violation


def test_a_name_without_a_run(moonpad: Moonpad) -> None:
    (moonpad.state / "endpoints").mkdir(parents=True)
    (moonpad.state / "endpoints" / "fake.json").write_text('{"run": "fake-9"}')
    assert violations(moonpad) == ["fake.json points to fake-9, which is not there"]


@dataclass(frozen=True)
class Liar(Moonpad):
    """Whose `status` says of the run `fake` what it is told to say."""

    says: str = ""

    def __call__(self, *argv: str, timeout_s: float = 120.0, **env: str) -> Done:
        return Done(0, json.dumps({"endpoints": [{"name": "fake", "state": self.says}]}), "")


@pytest.mark.parametrize("says", ["ready", "unattended", "stopped", "failed"])
@pytest.mark.parametrize("lives", [True, False])
def test_status_lies(moonpad: Moonpad, engine: tuple[int, int], says: str, lives: bool) -> None:
    write_run(moonpad, "fake-1", engine if lives else None)
    write_run(moonpad, "other-1", None if lives else engine)
    (moonpad.state / "endpoints").mkdir()
    (moonpad.state / "endpoints" / "fake.json").write_text('{"run": "fake-1"}')
    is_true = (says in ("ready", "unattended")) is lives
    alive = [engine[0]] if lives else []
    lie = f"status says {says} of fake, and alive are {alive}"
    assert violations(Liar(moonpad.home, moonpad.env, says)) == ([] if is_true else [lie])


def test_set_launch(fake_spec: Path) -> None:
    before = tomllib.loads(fake_spec.read_text())
    set_launch(fake_spec, restarts=3, restart_on_stall=False, min_healthy="2s")
    after = tomllib.loads(fake_spec.read_text())
    changed = {"restarts": 3, "restart_on_stall": False, "min_healthy": "2s"}
    assert after == {**before, "launch": {**before["launch"], **changed}}


def test_the_newest_run_where_no_name_points_to_one(moonpad: Moonpad) -> None:
    for age, name in ((100, "fake-b"), (0, "fake-a")):
        folder = write_run(moonpad, name, None)
        os.utime(folder, (1_000_000 - age,) * 2)
    assert run_folder(moonpad).name == "fake-a"


def test_waiting_ends_with_what_is_wrong() -> None:
    with pytest.raises(AssertionError, match="after 0 s: it rains"):
        wait_until(lambda: False, lambda: "it rains", 0.0)
    assert comm_of(1 << 22) == ""
