"""What the places where rendered files run have in common."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from moonpad.facts.processes import find_descendants
from tests.conftest import Moonpad
from tests.faults.helpers import wait_until

PATIENCE_S = 600.0
"""For whatever must come about: other programs share the machine."""
FAKE_LOAD_S = 2.0
API_SERVER, CORE = "API server", "engine core"
_CORE_TITLE = "VLLM::EngineCor"
_ASK = """\
import json, os, sys, urllib.request as r
base = sys.argv[1]
head = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("ASK_KEY", "")}
r.urlopen(base + "/health", timeout=30).read()
body = {"model": "kimi-k2-tiny", "messages": [{"role": "user", "content": "1 + 1 = ?"}], "max_tokens": 8}
q = r.Request(base + "/v1/chat/completions", json.dumps(body).encode(), head)
message = json.load(r.urlopen(q, timeout=300))["choices"][0]["message"]
sys.exit(0 if any(message.get(name) for name in ("content", "reasoning", "reasoning_content")) else 1)
"""
_CONNECT = "import socket, sys; sys.exit(socket.socket().connect_ex(('127.0.0.1', int(sys.argv[1]))) != 0)"


@dataclass
class Target:
    """One place, open for several starts one after the other. The rendered files have stood there since it was opened.

    `inside`: the words before a command that has to run on the machine that serves; () for this one.
    """

    moonpad: Moonpad
    port: int
    engine: str
    key: str = ""
    inside: tuple[str, ...] = ()
    victims: ClassVar[tuple[str, ...]] = ()

    def start(self) -> None:
        """Returns at once."""
        raise NotImplementedError

    def pids(self, victim: str) -> list[int]:
        """What of it can be killed now."""
        raise NotImplementedError

    def stop(self, number: int) -> str:
        """In the documented way, to its end; what was done, in words."""
        raise NotImplementedError

    def has_ended(self) -> bool:
        """By itself."""
        raise NotImplementedError

    def is_over(self) -> bool:
        """Whether it ended before it could answer."""
        return False

    def clean(self) -> str:
        """What the documentation says to do after a kill, "" where nothing has to be done."""
        raise NotImplementedError

    def left(self) -> list[str]:
        """What it alone can know, a sentence each."""
        return []

    def restore(self) -> None:
        """Makes good again what the kill took from the place itself."""

    def kill(self, victim: str, chance: random.Random) -> None:
        wait_until(lambda: self.pids(victim), lambda: f"there is no {victim}", PATIENCE_S)
        os.kill(chance.choice(self.pids(victim)), signal.SIGKILL)

    def answers(self) -> bool:
        """At /health and with a chat."""
        words = (*self.inside, "python3", "-c", _ASK, f"http://127.0.0.1:{self.port}")
        env = {**os.environ, "ASK_KEY": self.key}
        return subprocess.run(words, env=env, capture_output=True, timeout=PATIENCE_S, check=False).returncode == 0

    def is_served(self) -> bool:
        words = (*self.inside, "python3", "-c", _CONNECT, str(self.port))
        return subprocess.run(words, capture_output=True, check=False).returncode == 0


def engine_pids(main: Callable[[], int], victim: str) -> list[int]:
    """The API server, or the engine core below it; [] where it does not run."""
    pid = main()
    if not pid:
        return []
    if victim == API_SERVER:
        return [pid]
    return [child for child in find_descendants({pid}) if _title(child).startswith(_CORE_TITLE)]


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def shared_memory_of(pid: int) -> list[str]:
    """What lies in the /dev/shm that this process sees."""
    folder = Path("/proc", str(pid), "root", "dev", "shm")
    return [f"{path.name} in the shared memory of process {pid}" for path in folder.iterdir()]
