"""The far end of a run, here: the file itself, run as ssh would run it, with the real keeper beside it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from moonpad.run import far_end, keeper

HERE = Path(far_end.__file__)


@dataclass
class Far:
    home: Path
    folder: str = ""

    def command(self, *words: str) -> tuple[str, ...]:
        program = HERE if words[0] == "place" else Path(self.folder) / "far_end.py"
        return (sys.executable, "-I", "-S", str(program), *words)

    def __call__(self, *words: str, stdin: str = "", timeout_s: float = 30.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            input=stdin,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "XDG_STATE_HOME": str(self.home)}

    def place(self, script: str, **env: str) -> None:
        self.folder = str(self.home / "moonpad" / "far" / "k2-1-node-1")
        process: dict[str, Any] = {"name": "engine-1", "argv": ["sh", "-c", script], "env": env, "after_stop": []}
        job = {
            "id": "k2-1-node-1",
            "programs": {name: HERE.with_name(name).read_text() for name in ("far_end.py", "keeper.py")},
            "files": [["sub/key", "s3cret", 0o600]],
            "claims": [],
            "pointer": None,
            "holder": {"run": "k2-1"},
            "grace_s": 2.0,
            "restarts": 0,
            "foreground_of": 0,
            "temp_base": "",
            "cgroup": False,
            "log_bytes": 1 << 20,
            "controller": None,
            "processes": [process],
        }
        done = self("place", stdin=json.dumps(job))
        assert json.loads(done.stdout) == {"folder": self.folder}, done.stderr


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Far]:
    keeper.set_process_option(keeper.PR_SET_CHILD_SUBREAPER, 1)
    before = keeper.descendants({keeper.os.getpid()})
    made = Far(tmp_path)
    yield made
    if Path(made.folder).exists():
        assert made("remove", made.folder, "10").returncode == 0
    time.sleep(0.05)
    assert not {pid for pid in keeper.descendants({keeper.os.getpid()}) if pid not in before}
    assert not list((tmp_path / "moonpad" / "far").iterdir())


def test_its_log_and_how_it_ended(far: Far) -> None:
    far.place('echo "$WORD"; cat sub/key; exit 3', WORD="hello there")
    assert Path(far.folder).stat().st_mode & 0o777 == 0o700
    assert (Path(far.folder) / "job.json").stat().st_mode & 0o777 == 0o600
    done = far("attach", far.folder)
    assert done.returncode == 1
    assert done.stdout.startswith("hello there\ns3cret")
    assert done.stdout.endswith("engine-1 ended: exit 3\n")
    assert far("ask", far.folder).stdout == ""


def test_a_window_that_is_lost_and_opened_again(far: Far) -> None:
    """Fault 29: the engine lives on, and is not started twice."""
    far.place("echo one; sleep 60")
    first = subprocess.Popen(far.command("attach", far.folder), env=far.env, stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    assert first.stdout.readline() == "one\n"
    first.kill()
    first.wait()
    assert far("ask", far.folder).stdout == "running\n"
    document = json.loads((Path(far.folder) / "keeper.json").read_text())
    again = subprocess.Popen(far.command("attach", far.folder), env=far.env, stdout=subprocess.PIPE, text=True)
    assert again.stdout is not None
    assert again.stdout.readline() == "one\n"
    assert json.loads((Path(far.folder) / "keeper.json").read_text())["roots"] == document["roots"]
    assert far("stop", far.folder, "10").returncode == 0
    assert again.wait(10) == 0
    assert far("ask", far.folder).stdout == ""
    once_more = subprocess.Popen(far.command("attach", far.folder), env=far.env, stdout=subprocess.PIPE, text=True)
    assert once_more.stdout is not None
    assert once_more.stdout.readline() == "one\n"
    assert far("remove", far.folder, "10").returncode == 0
    assert once_more.wait(10) == 0


def test_nobody_reads_any_more(far: Far) -> None:
    """A connection that is cut leaves no reader behind, and the engine where it is."""
    far.place("sleep 60")
    window = subprocess.Popen(far.command("attach", far.folder), env=far.env, stdout=subprocess.PIPE)
    assert window.stdout is not None
    until = time.monotonic() + 10
    while far("ask", far.folder).stdout != "running\n":
        assert time.monotonic() < until
    window.stdout.close()
    assert window.wait(5) == 1
    assert far("ask", far.folder).stdout == "running\n"


def test_a_killed_keeper_is_finished(far: Far) -> None:
    far.place("sleep 61 & sleep 61")
    window = subprocess.Popen(far.command("attach", far.folder), env=far.env, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 10
    while len(json.loads(text) if (text := state(far)) else []) < 3:
        assert time.monotonic() < until
        time.sleep(0.05)
    document = json.loads((Path(far.folder) / "keeper.json").read_text())
    keeper.send(document["keeper"]["pid"], document["keeper"]["start"], 9)
    assert window.wait(10) == 1
    assert far("stop", far.folder, "10").returncode == 0
    assert not any(keeper.is_alive(one["pid"], one["start"]) for one in document["owned"])


def state(far: Far) -> str:
    path = Path(far.folder) / "keeper.json"
    return json.dumps(json.loads(path.read_text())["owned"]) if path.exists() else ""
