"""Two machines as far as MPI can tell, each with an sshd of its own on another port: namespaces for network, processes,
host name and shared memory, and a wire between them. What one kills of the other, it reaches over ssh."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.faults.helpers import wait_until
from tests.faults.two_hosts import HERE, THERE, run, sshd, why_not, wire

PORT = 2233
ADDRESSES = {"a": HERE, "b": THERE}


@dataclass
class MpiHosts:
    folder: Path
    tag: str
    first: dict[str, int] = field(default_factory=dict)
    """The pid of each host's first process, its sshd."""
    outer: list[subprocess.Popen[bytes]] = field(default_factory=list)
    """What holds them: a host ends with it."""

    @property
    def ssh_words(self) -> str:
        """Words for ssh on the first host. None holds a blank."""
        return (
            f"-p {PORT} -F none -i {self.folder}/ssh/user -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes "
            f"-o UserKnownHostsFile={self.folder}/ssh/known"
        )

    def inside(self, which: str, *words: str) -> tuple[str, ...]:
        """A command on that host."""
        return ("nsenter", "--target", str(self.first[which]), "--net", "--pid", "--mount", "--uts", "--", *words)

    def start(self, which: str) -> None:
        config = self.folder / "ssh" / f"sshd_{which}"
        script = (
            f'hostname host-{which} && mount -t tmpfs shm /dev/shm && ip link set lo up && exec {sshd()} -D -f "$1"'
        )
        words = ("ip", "netns", "exec", f"{self.tag}-{which}", "unshare", "--pid", "--fork", "--mount-proc", "--uts")
        words = (*words, "--mount", "--kill-child", "sh", "-c", script, "sh", str(config), "-E", f"{config}.log")
        outer = subprocess.Popen(words, stdin=subprocess.DEVNULL)
        self.outer.append(outer)
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
        wait_until(lambda: bool(children.read_text().split()), lambda: "no sshd", 10.0)
        self.first[which] = int(children.read_text().split()[0])

    def processes(self, which: str) -> dict[int, str]:
        """pid (as this machine counts) → command of what runs on that host, sshd's own left out."""
        space = Path(f"/proc/{self.first[which]}/ns/pid").readlink()
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                name = (path / "comm").read_text().strip()
                if (path / "ns" / "pid").readlink() == space and command and not name.startswith("sshd"):
                    found[int(path.name)] = command
        return found


def _make_keys(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    for name in ("user", "host"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
    shutil.copy(folder / "user.pub", folder / "authorized")
    kind, key = (folder / "host.pub").read_text().split()[:2]
    (folder / "known").write_text("".join(f"[{address}]:{PORT} {kind} {key}\n" for address in ADDRESSES.values()))
    for which, address in ADDRESSES.items():
        (folder / f"sshd_{which}").write_text(
            f"Port {PORT}\nListenAddress {address}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\n"
            f"StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
            f"KbdInteractiveAuthentication no\nAllowUsers {getpass.getuser()}\n"
        )


@contextmanager
def mpi_hosts(folder: Path) -> Iterator[MpiHosts]:
    """Skipped where they cannot be made. At the end nothing but sshd may be left on either."""
    if shutil.which("mpirun") is None or shutil.which("nsenter") is None:
        pytest.skip("Open MPI (openmpi-bin) and util-linux are needed")
    if reason := why_not():
        pytest.skip(reason)
    _make_keys(folder / "ssh")
    needs = Path("/run/sshd")  # an sshd that runs as root wants it, empty
    created = not needs.exists()
    needs.mkdir(mode=0o755, exist_ok=True)
    hosts = MpiHosts(folder, f"mm{os.getpid() % 10_000}{time.monotonic_ns() % 1000}")
    wire(hosts.tag)
    try:
        for which in ADDRESSES:
            hosts.start(which)
        reached = hosts.inside("a", "ssh", *hosts.ssh_words.split(), "-o", "BatchMode=yes", THERE, "true")
        wait_until(
            lambda: subprocess.run(reached, capture_output=True, check=False).returncode == 0,
            lambda: (folder / "ssh" / "sshd_b.log").read_text()[-500:],
            10.0,
        )
        yield hosts
    finally:
        for outer in hosts.outer:
            outer.kill()
            outer.wait()
        for which in ADDRESSES:
            run("ip", "netns", "del", f"{hosts.tag}-{which}")
        if created:
            needs.rmdir()
