"""`render --to shell`: run by bash, stopped by INT or TERM, after a kill by its stop.sh."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.targets.target import API_SERVER, CORE, FAKE_LOAD_S, PATIENCE_S, Target, engine_pids
from moonpad.environments.installed import find
from tests.conftest import Moonpad
from tests.e2e.conftest import CHECKPOINT
from tests.fake_environment import make_environment

KEY = "s3 'cret $HOME"
SPEC = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n\n[endpoint]\nport = {port}\napi_key_env = "KIMI_KEY"\n'


def engine_folder(engine: str, home: Path) -> Path:
    """Of the real one, or of a fake one that is made."""
    if engine == "fake":
        return make_environment(home / "engine").parent.parent
    installed = find("vllm-cpu")
    assert installed is not None, "first: moonpad engine install vllm-cpu"
    return installed.python.parent.parent


@dataclass
class Shell(Target):
    script: Path = Path()
    folder: Path = Path()
    running: subprocess.Popen[bytes] | None = None

    victims = (API_SERVER, CORE)

    def start(self) -> None:
        env = {
            **os.environ,
            "MOONPAD_ENGINE": str(self.folder),
            "MOONPAD_CHECKPOINT": str(CHECKPOINT),
            "MOONPAD_API_KEY": self.key,
            "FAKE_LOAD_S": str(FAKE_LOAD_S),
        }
        with (self.moonpad.home / "engine.log").open("ab") as log:
            self.running = subprocess.Popen(("bash", str(self.script)), env=env, stdout=log, stderr=log)

    def pids(self, victim: str) -> list[int]:
        running = self.running
        return engine_pids(lambda: running.pid if running and running.poll() is None else 0, victim)

    def stop(self, number: int) -> str:
        assert self.running is not None
        asked = (signal.SIGINT, signal.SIGTERM)[number // 2 % 2]
        self.running.send_signal(asked)
        return f"{asked.name}, exit code {self.running.wait(PATIENCE_S)}"

    def has_ended(self) -> bool:
        return self.running is not None and self.running.poll() is not None

    def is_over(self) -> bool:
        return self.has_ended()

    def clean(self) -> str:
        words = ("bash", str(self.script.with_name("stop.sh")))
        done = subprocess.run(words, capture_output=True, timeout=PATIENCE_S, check=False)
        return f"stop.sh, exit code {done.returncode}"


@contextmanager
def open_shell(moonpad: Moonpad, port: int, engine: str) -> Iterator[Shell]:
    spec, out = moonpad.home / "tiny.toml", moonpad.home / "files"
    spec.write_text(SPEC.format(port=port))
    done = moonpad("render", str(spec), "--to", "shell", "--out", str(out))
    assert done.code == 0, done.stderr
    folder = engine_folder(engine, moonpad.home)
    yield Shell(moonpad, port, engine, KEY, script=out / "node-0" / "run.sh", folder=folder)
