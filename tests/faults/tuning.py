"""A tune of the fake engine that is killed with SIGKILL, and the same command again: what must be as before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults import oracle
from tests.faults.oracle import Identity

OPTIONS = ("--workload", "32:8", "--concurrency", "2", "--requests", "8", "--no-numerics", "--json")
QUICK = {"FAKE_TOKEN_S": "0.001", "FAKE_LOAD_S": "0.05"}
GONE_LIMIT_S = 20.0
"""A keeper whose tune is dead stops its engine; an engine has four seconds to end."""
LOOK_S = 0.02


@dataclass
class Tuning:
    """Tunes of one spec. `env` is the commands'; `name` of the user's own deployment."""

    spec: Path
    env: Mapping[str, str]
    state: Path
    name: str
    budget: str = "30s"
    more: tuple[str, ...] = ()
    _children: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self) -> subprocess.Popen[str]:
        words = ("tune", str(self.spec), *OPTIONS, "--budget", self.budget, *self.more)
        child = subprocess.Popen(
            (sys.executable, "-m", "moonpad", *words),
            env={**self.env, **QUICK},
            cwd=self.spec.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        self._children.append(child)
        return child

    def kill(self, child: subprocess.Popen[str]) -> None:
        """The tune alone: its keeper and its engine are not asked."""
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()

    def finish(self, limit_s: float = 180.0) -> dict[str, Any]:
        """The same command again, to its end."""
        child = self.start()
        output, errors = child.communicate(timeout=limit_s)
        assert child.returncode == 0, errors
        document: dict[str, Any] = json.loads(output)
        return document

    # --- what there is --------------------------------------------------------------------------------------------

    def journal(self) -> list[dict[str, Any]]:
        events = []
        for path in self.state.glob("tunes/*/journal.jsonl"):
            for line in path.read_text().splitlines():
                if line.endswith("}"):
                    events.append(json.loads(line))
        return events

    def count(self, event: str) -> int:
        return sum(one["event"] == event for one in self.journal())

    def await_events(self, event: str, count: int, limit_s: float = 60.0) -> None:
        until = time.monotonic() + limit_s
        while self.count(event) < count:
            assert time.monotonic() < until, f"{self.count(event)} × {event}"
            time.sleep(LOOK_S)

    def candidate_lives(self) -> bool:
        """Whether anything of a candidate runs, by /proc alone."""
        runs = oracle.runs(self.state, oracle.processes())
        return any(not run.ended for run in runs if run.name == f"{self.name}-tune")

    def await_candidate_gone(self) -> float:
        """Seconds until nothing of it runs."""
        begun = time.monotonic()
        while self.candidate_lives():
            assert time.monotonic() - begun < GONE_LIMIT_S, "the candidate lives on"
            time.sleep(LOOK_S)
        return round(time.monotonic() - begun, 3)

    def own(self) -> set[Identity]:
        """The user's deployment: its engine's processes and its keeper."""
        run = oracle.current(self.state, self.name, oracle.processes())
        assert run is not None
        return {process.identity for process in run.processes}
