"""What every test may ask for: a world of its own, and the proof that nothing of it is left."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from moonpad.run import keeper

ROOT = Path(__file__).resolve().parent.parent
FAKE_ENGINE = ROOT / "tests" / "fake_engine" / "vllm.py"

# Hypothesis fails an example that takes longer than 0.2 s; on a busy machine any does.
settings.register_profile("moonpad", deadline=None)
settings.load_profile("moonpad")

# What a script starts with `&` has SIGINT ignored, and so would every command that is interrupted here.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the user's own runs have measured must not reach the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


@dataclass(frozen=True)
class Moonpad:
    """The `moonpad` command in a home of its own."""

    home: Path
    env: dict[str, str]

    def __call__(self, *argv: str, timeout_s: float = 120.0, **env: str) -> Done:
        done = subprocess.run(
            (sys.executable, "-m", "moonpad", *argv),
            env={**self.env, **env},
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *argv: str, **env: str) -> subprocess.Popen[str]:
        """The command without waiting for it, in a process group of its own, as a shell would."""
        return subprocess.Popen(
            (sys.executable, "-m", "moonpad", *argv),
            env={**self.env, **env},
            cwd=self.home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )

    @property
    def state(self) -> Path:
        return self.home / "state" / "moonpad"

    def events(self, name: str) -> list[dict[str, Any]]:
        """The events of the current run of that name."""
        run = json.loads((self.state / "endpoints" / f"{name}.json").read_text())["run"]
        lines = (self.state / "runs" / run / "events.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def moonpad(tmp_path: Path) -> Moonpad:
    """The command with an empty HOME and empty caches."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
    env = {
        **kept,
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "NO_COLOR": "1",
    }
    return Moonpad(home, env)


@pytest.fixture
def fake_engine(tmp_path: Path) -> Path:
    """A pretended environment whose `vllm` is the fake engine; the path of its Python."""
    folder = tmp_path / "engine" / "bin"
    folder.mkdir(parents=True)
    shutil.copy(FAKE_ENGINE, folder.parent / "vllm.py")
    program = folder / "vllm"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "{folder.parent}/vllm.py" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    python = folder / "python"
    python.symlink_to(sys.executable)
    return python


@pytest.fixture
def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.fixture
def fake_spec(moonpad: Moonpad, fake_engine: Path, free_port: int) -> Path:
    """A spec that runs the fake engine."""
    spec = moonpad.home / "fake.toml"
    spec.write_text(
        f'model = "kimi-k2-tiny"\n\n[engine]\nname = "vllm-cpu"\npython = "{fake_engine}"\n\n'
        f'[endpoint]\nport = {free_port}\n\n[launch]\nstart_timeout = "20s"\nstop_grace = "4s"\n'
    )
    return spec


@pytest.fixture
def clean_world(moonpad: Moonpad, free_port: int) -> Iterator[None]:
    """No process, port or lock of the test is left at its end.

    The test process is made a child subreaper, so every orphan of the test, whatever it calls itself and however it
    detached, ends up below it: the proof goes by parentage, not by names.
    """
    keeper.set_process_option(keeper.PR_SET_CHILD_SUBREAPER, 1)
    before = keeper.descendants({os.getpid()})
    shared_before = shared_memory()
    yield
    left = _settle(before)
    commands = {pid: _command(pid) for pid in left}
    for pid, start in left.items():
        keeper.send(pid, start, 9)
    _settle(before)
    assert not left, f"processes are left: {commands}"
    with socket.socket() as sock:
        sock.settimeout(0.5)
        assert sock.connect_ex(("127.0.0.1", free_port)) != 0, f"port {free_port} is still served"
    assert not list(moonpad.state.glob("endpoints/*.lock")), "a lock is left"
    assert not {name for name in shared_memory() - shared_before if "moonpad" in name}


def shared_memory() -> set[str]:
    return {path.name for path in Path("/dev/shm").iterdir()}


def _settle(before: dict[int, int]) -> dict[int, int]:
    """What lives below us and was not there before; children that have ended are collected, for up to five seconds."""
    until = time.monotonic() + 5.0
    while True:
        left = {pid: start for pid, start in keeper.descendants({os.getpid()}).items() if pid not in before}
        for pid in list(left) + _zombies():
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return "gone"


def _zombies() -> list[int]:
    found = []
    for path in Path("/proc").iterdir():
        seen = keeper.stat_of(int(path.name)) if path.name.isdigit() else None
        if seen and seen[0] == os.getpid() and seen[2] == "Z":
            found.append(int(path.name))
    return found
