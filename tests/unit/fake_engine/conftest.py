"""Starting a fake engine without a keeper."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.facts.processes import find_descendants, send_signal
from tests.fake_environment import FAKE_ENGINE
from tests.unit.fake_engine.engine import Engine, Start
from tests.world import World


@pytest.fixture
def start(tmp_path: Path, free_port: int) -> Iterator[Start]:
    """Starts an engine and waits until it listens; at the end nothing of it may be left but what a kill leaves."""
    world = World(tmp_path, free_port)
    started: list[Engine] = []

    def _start(*flags: str, wait: bool = True, **switches: str) -> Engine:
        log = tmp_path / f"log-{len(started)}"
        argv = ("serve", "/models/tiny", "--served-model-name", "kimi", "--host", "127.0.0.1", "--port", str(free_port))
        with log.open("wb") as output:
            process = subprocess.Popen(
                (sys.executable, "-I", "-S", str(FAKE_ENGINE), *argv, *flags),
                env={"TMPDIR": str(tmp_path), "FAKE_LOAD_S": "0.05", "CANARY": "in-environ", **switches},
                stdout=output,
                stderr=output,
            )
        engine = Engine(world.before, free_port, log, process)
        started.append(engine)
        if wait:
            engine.await_log("Application startup complete")
        return engine

    yield _start
    for engine in started:
        if engine.process.poll() is None:
            engine.process.kill()
    for pid, began in find_descendants({os.getpid()}).items():
        if pid not in world.before:
            send_signal(pid, began, signal.SIGKILL)
    for engine in started:
        engine.process.wait()
    left = world.sweep()
    assert not [text for text in left if text.startswith(("process", "port"))], left
