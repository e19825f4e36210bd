"""What a test has left behind, found by parentage and by what only this test knows: its home and its port."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, find_descendants, read_stat, send_signal, set_process_option
from moonpad.run.keeper import cgroup
from moonpad.store.atomic_files import read_json

SHARED_MEMORY = Path("/dev/shm")
MACHINE_LOCKS = Path("/tmp/moonpad-locks")
SETTLE_S = 5.0


class World:
    """One test's: `home` is the command's HOME, `port` the endpoint's. Make it before the test begins.

    The calling process is made a child subreaper: every orphan of the test, whatever it calls itself and however it
    detached, ends up below it.
    """

    def __init__(self, home: Path, port: int) -> None:
        set_process_option(PR_SET_CHILD_SUBREAPER, 1)
        self.home, self.port = home, port
        self.before = find_descendants({os.getpid()})
        self.places_before = set(_places())  # their keeper's pid may come again for a process of this test
        self.ended: set[int] = set()

    def sweep(self, settle_s: float | None = None) -> list[str]:
        """What is left after that time, one sentence each. It is removed, so that the next test is not disturbed."""
        settle_s = SETTLE_S if settle_s is None else settle_s
        living = self._settle(settle_s)
        left = [f"process {pid} is left: {_command(pid)}" for pid in living]
        for pid, start in living.items():
            send_signal(pid, start, 9)
        if living:
            self._settle(settle_s)
        if self._is_served():
            left.append(f"port {self.port} is still served")
        for path in self._files():
            left.append(f"{path} is left")
            _remove(path)
        return left

    def _settle(self, limit_s: float) -> dict[int, int]:
        """pid → start time of what lives; children that have ended are collected meanwhile."""
        until = time.monotonic() + limit_s
        while True:
            living = {pid: start for pid, start in find_descendants({os.getpid()}).items() if pid not in self.before}
            for pid in [*living, *_zombies()]:
                with suppress(ChildProcessError):
                    self.ended.add(os.waitpid(pid, os.WNOHANG)[0])
            if not living:
                living = self._holders()
            if not living or time.monotonic() > until:
                return living
            time.sleep(0.02)

    def _holders(self) -> dict[int, int]:
        """Who is not below us, and has the test's home in its environment, its command or its open files."""
        holders = {}
        for pid in _pids():
            seen = read_stat(pid)
            if seen and seen[2] not in "ZX" and pid != os.getpid() and pid not in self.before:
                with suppress(OSError):  # gone meanwhile, or another user's
                    if any(bytes(self.home) in text for text in _holdings(pid)):
                        holders[pid] = seen[1]
        return holders

    def _is_served(self) -> bool:
        with socket.socket() as sock:
            sock.settimeout(0.5)
            return sock.connect_ex(("127.0.0.1", self.port)) == 0

    def _files(self) -> list[Path]:
        """Locks, shared memory, temporary files and half-written ones; the fake engine's names hold the port."""
        state = self.home / "state" / "moonpad"
        kept = [read_json(path) or {} for path in state.glob("runs/*/keeper.json")]
        leftovers = [
            *state.glob("endpoints/*.lock"),
            MACHINE_LOCKS / f"port-{self.port}.lock",
            *SHARED_MEMORY.glob(f"*moonpad_{self.port}_*"),
            *Path(tempfile.gettempdir()).glob(f"fake-engine-{self.port}-*"),
            *(Path(keeper[name]) for keeper in kept for name in ("temp_dir", "cgroup") if keeper.get(name)),
            *(Path(path) for keeper in kept for path in keeper.get("shared_memory", ())),
            *state.rglob("*.part"),
        ]
        # Also those that no file names: of a keeper that was killed before it wrote anything down.
        leftovers += [path for pid, path in set(_places()) - self.places_before if pid in self.ended]
        return [path for path in dict.fromkeys(leftovers) if path.exists()]


def _places() -> Iterator[tuple[int, Path]]:
    """The cgroup and the temporary directory of every run of this user, each with its keeper's pid."""
    above = cgroup.find_own()
    for folder in (Path("/tmp"), *((Path(above),) if above else ())):
        for path in folder.glob(f"moonpad-{os.getuid()}-*"):
            pid = path.name.split("-")[2]
            if pid.isdigit():
                yield int(pid), path


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _holdings(pid: int) -> list[bytes]:
    here = Path(f"/proc/{pid}")
    texts = [(here / "environ").read_bytes(), (here / "cmdline").read_bytes(), bytes((here / "cwd").readlink())]
    for path in (here / "fd").iterdir():
        with suppress(OSError):
            texts.append(bytes(path.readlink()))
    return texts


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return "gone"


def _zombies() -> list[int]:
    zombies = []
    for pid in _pids():
        seen = read_stat(pid)
        if seen and seen[0] == os.getpid() and seen[2] == "Z":
            zombies.append(pid)
    return zombies


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            path.rmdir()  # a cgroup goes only so: what is in it is no file
    else:
        path.unlink(missing_ok=True)
