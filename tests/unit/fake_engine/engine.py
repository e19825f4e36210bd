"""A fake engine without a keeper, as its own tests look at it."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from moonpad.facts.processes import find_descendants, read_stat
from tests.faults.helpers import cmdline_of, comm_of, wait_until

LIMIT_S = 20.0


@dataclass
class Engine:
    """One that was started here, without a keeper. `before`: what lived below us then."""

    before: dict[int, int]
    port: int
    log: Path
    process: subprocess.Popen[bytes]

    def text(self) -> str:
        return self.log.read_text()

    def await_log(self, text: str) -> None:
        wait_until(lambda: text in self.text(), self.text, LIMIT_S)

    def ends(self) -> int:
        return self.process.wait(LIMIT_S)

    def ask(self, path: str, body: object = None, key: str = "") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        try:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            method, data = ("GET", None) if body is None else ("POST", json.dumps(body))
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def completion(self, max_tokens: int = 1) -> tuple[int, str]:
        return self.ask("/v1/completions", {"prompt": "Hello", "max_tokens": max_tokens})

    def metric(self, name: str) -> float:
        lines = self.ask("/metrics")[1].splitlines()
        return float(next(line for line in lines if line.startswith(f"{name}{{")).split()[-1])

    @property
    def core(self) -> int:
        return next(pid for pid in self.members() if comm_of(pid) == "VLLM::EngineCor")

    @property
    def workers(self) -> list[int]:
        return sorted(pid for pid in self.members() if comm_of(pid).startswith("VLLM::Worker_TP"))

    def members(self) -> dict[int, int]:
        """Of the whole test: one engine at a time."""
        return {pid: start for pid, start in find_descendants({os.getpid()}).items() if pid not in self.before}

    def await_members(self, count: int) -> None:
        def settled() -> bool:
            for pid in [pid for pid in _zombies() if pid != self.process.pid]:
                os.waitpid(pid, 0)
            return len(self.members()) == count

        wait_until(settled, lambda: str([cmdline_of(pid) for pid in self.members()]), LIMIT_S)


def _zombies() -> list[int]:
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    seen = {pid: read_stat(pid) for pid in pids}
    return [pid for pid, stat in seen.items() if stat and stat[0] == os.getpid() and stat[2] == "Z"]


Start = Callable[..., Engine]


def files_of(port: int, folder: Path) -> list[str]:
    kept = [path.name for path in Path("/dev/shm").glob(f"*moonpad_{port}_*")]
    return kept + [path.name for path in folder.glob(f"fake-engine-{port}-*")]
