"""What the benchmarks of a supervised engine share: an endpoint in a state of its own, and clients that stream."""

from __future__ import annotations

import http.client
import json
import os
import platform
import random
import re
import threading
import time
from pathlib import Path
from typing import Any

from tests.fake_environment import make_environment
from tests.faults import forked, machine, oracle
from tests.faults.oracle import Run

MODEL = "kimi-k2-tiny"
START_LIMIT_S = 900.0
ENGINES = {
    "real": """engine = "vllm-cpu"

[layout]
tp = {tp}

[settings]
max_model_len = 2048
max_num_seqs = 4
kv_cache_gib = 1
enforce_eager = true
""",
    "fake": """
[engine]
name = "vllm-cpu"
python = "{python}"
""",
}
SPEC = """\
model = "{model}"
{engine}
[endpoint]
port = {port}

[launch]
restarts = 0
stop_grace = "{grace}"
"""


class Stage:
    """One endpoint, `k`. `fake` are switches of the fake engine."""

    def __init__(self, home: Path, engine: str, *, tp: int = 1, fake: dict[str, str] | None = None) -> None:
        self.home, self.state = home, home / "state" / "moonpad"
        self.port = machine.free_ports(random.Random())[0]
        self.python = make_environment(home / "engine") if engine == "fake" else Path()
        self.spec = home / "k.toml"
        table = ENGINES[engine].format(tp=tp, python=self.python)
        grace = "4s" if engine == "fake" else "20s"
        self.spec.write_text(SPEC.format(model=MODEL, engine=table, port=self.port, grace=grace))
        self.env = {**os.environ, "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1", **(fake or {})}

    def moonpad(self, *argv: str, limit_s: float = 120.0, **env: str) -> forked.Ended:
        return forked.run(argv, {**self.env, **env}, self.home, limit_s)

    def up(self, **env: str) -> None:
        ended = self.moonpad("up", str(self.spec), "--json", limit_s=START_LIMIT_S, **env)
        assert ended.code == 0, ended.stderr

    def down(self) -> None:
        ended = self.moonpad("down", "k", "--json")
        assert ended.code == 0, ended.stderr

    def run(self) -> Run:
        current = oracle.current(self.state, "k", oracle.processes())
        assert current is not None
        return current

    def row(self) -> dict[str, Any]:
        ended = self.moonpad("status", "--json")
        assert ended.code == 0, ended.stderr
        endpoint: dict[str, Any] = json.loads(ended.stdout)["endpoints"][0]
        return endpoint

    def events(self) -> list[dict[str, Any]]:
        lines = (self.run().path / "events.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def is_clean(self) -> bool:
        """Nothing lives below us, and nobody serves the port."""
        oracle.reap()
        return not oracle.below({os.getpid()}, oracle.processes()) and not oracle.served(self.port)


class Streams:
    """So many requests at a time, each followed by the next, until `stop()`."""

    def __init__(self, port: int, count: int, max_tokens: int = 256) -> None:
        self.port, self.max_tokens = port, max_tokens
        self.tokens, self.done, self.failed = 0, 0, 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(60.0)

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                tokens = self._request()
            except (OSError, http.client.HTTPException):
                with self._lock:
                    self.failed += not self._stopping.is_set()
                self._stopping.wait(0.1)
            else:
                with self._lock:
                    self.tokens, self.done = self.tokens + tokens, self.done + 1

    def _request(self) -> int:
        body = {"model": MODEL, "prompt": "Once", "max_tokens": self.max_tokens, "ignore_eos": True, "stream": True}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60.0)
        try:
            connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            lines = answer.read() if answer.status != 200 else b"".join(answer)
            if answer.status != 200 or b"[DONE]" not in lines:
                raise http.client.HTTPException(f"{answer.status}: {lines[:200]!r}")
            return lines.count(b'"choices"')
        finally:
            connection.close()


def generated_tokens(port: int) -> float:
    """The engine's own count, from `/metrics`."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10.0)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    finally:
        connection.close()
    return sum(float(value) for value in re.findall(r"^vllm:generation_tokens_total\S* (\S+)$", text, re.M))


def about(what: str) -> dict[str, Any]:
    """How each record begins."""
    return {
        "what": what,
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
    }


def write(out: Path | None, result: dict[str, Any]) -> None:
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(result, indent=1) + "\n")
