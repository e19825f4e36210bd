"""Two hosts on which the files of `render --to mpirun` are run, with a stand-in for TensorRT-LLM (mpi_stand_in.py)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import Moonpad
from tests.e2e.mpi_hosts import HERE, THERE, MpiHosts, mpi_hosts
from tests.e2e.mpi_stand_in import RECORDS, make_stand_in
from tests.faults.helpers import wait_until

PORT = 8123
SPEC = f"""
model = "kimi-k2-tiny"
engine = "tensorrt-llm"

[hardware]
cluster = "2x2xH200"

[layout]
dp = 4

[endpoint]
port = {PORT}
"""
SECRET = "s3 cret"
TARGETS = {"mpirun": ("a", "mpirun --hostfile"), "orted": ("b", "bin/orted"), "rank": ("b", "trtllm-llmapi-launch")}


@dataclass
class MpiSite:
    hosts: MpiHosts
    files: Path
    records: Path
    env: dict[str, str]

    def start(self, **env: str) -> MpiStart:
        for path in self.records.iterdir():
            path.unlink()
        command = self.hosts.inside("a", "bash", str(self.files / "node-0" / "run.sh"))
        given = {**self.env, **env}
        entering = subprocess.Popen(
            command, env=given, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return MpiStart(entering, self)

    def record(self, name: str) -> Any:
        path = self.records / f"{name}.json"
        try:
            return json.loads(path.read_text())
        except (OSError, ValueError):
            return None

    def answers(self, which: str = "a") -> bool:
        ask = (
            "import urllib.request as r;print(r.urlopen(r.Request('http://127.0.0.1:8123/v1/completions',b'{}'),"
            "timeout=5).read().decode())"
        )
        words = self.hosts.inside(which, "python3", "-c", ask)
        return "token" in subprocess.run(words, capture_output=True, text=True, check=False).stdout

    def left(self) -> dict[int, str]:
        return {**self.hosts.processes("a"), **self.hosts.processes("b")}

    def await_empty(self) -> None:
        wait_until(lambda: not self.left(), lambda: f"left are {self.left()}", 30.0)

    def pids(self, target: str) -> list[int]:
        which, words = TARGETS[target]
        return [pid for pid, command in self.hosts.processes(which).items() if words in command]


@dataclass
class MpiStart:
    """A start on the first host; `entering` is the command that goes there."""

    entering: subprocess.Popen[str]
    site: MpiSite

    def send(self, number: signal.Signals) -> None:
        children = Path(f"/proc/{self.entering.pid}/task/{self.entering.pid}/children").read_text().split()
        os.kill(int(children[0]), number)

    def await_ready(self) -> None:
        wait_until(
            lambda: self.site.record("serve") and self.site.record("rank-3") and self.site.answers(),
            lambda: f"{self.entering.poll()} {self.site.left()}",
            60.0,
        )

    def ended(self, limit_s: float = 60.0) -> tuple[int, str]:
        output, _ = self.entering.communicate(timeout=limit_s)
        return self.entering.returncode, output


@contextmanager
def mpi_site(moonpad: Moonpad, folder: Path) -> Iterator[MpiSite]:
    """At the end nothing may be left on either host."""
    spec = moonpad.home / "tiny.toml"
    spec.write_text(SPEC)
    files, records = folder / "files", folder / "records"
    done = moonpad("render", str(spec), "--to", "mpirun", "--out", str(files))
    assert done.code == 0, done.stderr
    records.mkdir()
    with mpi_hosts(folder) as hosts:
        env = {
            **os.environ,
            "MOONPAD_ENGINE": str(make_stand_in(folder / "engine")),
            "MOONPAD_CHECKPOINT": str(folder),
            "MOONPAD_RUN": str(folder / "run"),
            "MOONPAD_HOST_NODE_0": HERE,
            "MOONPAD_HOST_NODE_1": THERE,
            "MOONPAD_SSH_WORDS": hosts.ssh_words,
            "NCCL_DEBUG": "WARN",
            "SOME_API_KEY": SECRET,
            RECORDS: str(records),
        }
        site = MpiSite(hosts, files, records, env)
        yield site
        site.await_empty()
