"""Log lines as vLLM's logger writes them."""

from __future__ import annotations

import os


def say(who: str, text: str, level: str = "INFO", pid: int = 0) -> None:
    """One line of `who` (APIServer, EngineCore, Worker); whatever happens to the log, the engine goes on."""
    put(f"({who} pid={pid or os.getpid()}) {level} 11-20 12:00:00 [fake.py:1] {text}\n".encode())


def say_bare(text: str) -> None:
    """A line without a prefix, as progress bars are."""
    put(f"{text}\n".encode())


def put(data: bytes) -> bool:
    """Written as one piece. A full pipe blocks, as it would block the real one; False where nobody reads any more."""
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        return False
    return True
