"""Workers: orphans in sessions of their own, which nothing but their parent's pid links to the engine."""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import socket
import time
from pathlib import Path

from fake_engine.titles import set_title

MAPPED: list[mmap.mmap] = []
STOPS = (signal.SIGINT, signal.SIGTERM)


def keep_shared_memory(name: str) -> Path:
    """A mapped file that a killed process leaves, as multiprocessing's shared memory does; its path."""
    path = Path("/dev/shm", name)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.ftruncate(handle, 4096)
    MAPPED.append(mmap.mmap(handle, 4096))
    os.close(handle)
    return path


def lose_maker(name: str, after_s: float) -> None:
    """A process that makes shared memory after so many seconds, and is killed before anybody can look at it."""
    if os.fork() == 0:
        time.sleep(after_s)
        keep_shared_memory(name)
        os.kill(os.getpid(), signal.SIGKILL)


def start_workers(count: int, port: int, ignore_term: bool) -> list[tuple[int, socket.socket]]:
    """(pid, a socket that ends with the worker) of each, once it has its name."""
    started: list[tuple[int, socket.socket]] = []
    for rank in range(count):
        ours, theirs = socket.socketpair()
        between = os.fork()
        if between == 0:
            ours.close()
            for _, other in started:
                other.close()
            os.setsid()
            if os.fork() == 0:
                work(rank, port, theirs, ignore_term)
            os._exit(0)
        os.waitpid(between, 0)
        theirs.close()
        pid = int(ours.recv(32) or 0)
        started.append((pid, ours))
    return started


def work(rank: int, port: int, core: socket.socket, ignore_term: bool) -> None:
    """Waits for the core's end, and ends with it. One that ignores signals stays even then (vllm#55510)."""
    set_title(f"VLLM::Worker_TP{rank}")
    path = keep_shared_memory(f"psm_moonpad_{port}_{os.getpid()}")

    def end(*_: object) -> None:
        path.unlink(missing_ok=True)
        os._exit(0)

    for number in STOPS:
        signal.signal(number, signal.SIG_IGN if ignore_term else end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
    core.send(str(os.getpid()).encode())
    with contextlib.suppress(OSError):
        core.recv(1)
    while ignore_term:
        signal.pause()
    end()
