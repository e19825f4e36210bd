"""Two hosts of one run: network namespaces with a wire between them, and an sshd in the second. Root alone makes them.

They share the disk and the process table of this machine, and nothing of its network: what one reaches of the other, it
reaches over the wire.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import getpass
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from moonpad.facts.processes import read_stat
from moonpad.values.records import replace
from tests.conftest import Moonpad
from tests.fake_environment import make_environment

HERE, THERE = "10.77.0.1", "10.77.0.2"
SSH_PORT = 2222
OWN_SSH_LIMIT_S = 10.0


@dataclass(frozen=True)
class TwoHosts:
    """`moonpad` is the command on the first host; `tag` names what is this test's."""

    moonpad: Moonpad
    tag: str
    folder: Path
    spec: Path
    engine: Path
    """Of the second host: a file `env` in it is read by every start there."""
    own_shm: bool = False
    servers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def far(self) -> Path:
        """Where the second host keeps what is run there."""
        return self.folder / "state" / "moonpad" / "far"

    def inside(self, which: str, *words: str) -> tuple[str, ...]:
        return ("ip", "netns", "exec", f"{self.tag}-{which}", *words)

    def cut(self) -> None:
        """Nothing comes through any more, and neither side gets an error."""
        run("ip", "-n", f"{self.tag}-a", "link", "set", f"{self.tag}a", "down")

    def mend(self) -> None:
        run("ip", "-n", f"{self.tag}-a", "link", "set", f"{self.tag}a", "up")

    def set_far_env(self, **env: str) -> None:
        (self.engine / "env").write_text("".join(f"export {name}={value}\n" for name, value in env.items()))

    def processes(self, which: str) -> dict[int, int]:
        """pid → start time of what runs in that namespace, sshd's own processes left out."""
        listed = run("ip", "netns", "pids", f"{self.tag}-{which}")
        stats = {int(pid): stat for pid in listed.split() if (stat := read_stat(int(pid))) is not None}
        return {
            pid: stat[1] for pid, stat in stats.items() if stat[2] not in "ZX" and not name_of(pid).startswith("sshd")
        }

    def start_sshd(self) -> None:
        keys = self.folder / "ssh"
        command: tuple[str, ...] = (str(sshd()), "-D", "-f", str(keys / "sshd_config"), "-E", f"{keys}/log")
        if self.own_shm:  # `ip netns exec` has given it a mount namespace
            command = ("sh", "-c", 'mount -t tmpfs shm /dev/shm && exec "$@"', "sh", *command)
        self.servers.append(subprocess.Popen(self.inside("b", *command)))
        until = time.monotonic() + OWN_SSH_LIMIT_S
        while (tried := subprocess.run(self.ssh, capture_output=True, text=True, check=False)).returncode:
            if self.servers[-1].poll() is not None or time.monotonic() > until:
                pytest.skip(f"sshd lets nobody in here: {tried.stderr.strip()} {(keys / 'log').read_text()[-300:]}")
            time.sleep(0.1)

    def stop_sshd(self) -> None:
        for server in self.servers:
            server.terminate()
            server.wait(10)

    @property
    def ssh(self) -> tuple[str, ...]:
        return self.inside("a", str(self.folder / "bin" / "ssh"), "far", "true")

    def die(self) -> None:
        """The second host loses its power: nothing of it says a word."""
        self.cut()
        for pid in run("ip", "netns", "pids", f"{self.tag}-b").split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@functools.cache
def why_not() -> str:
    """ "" where two hosts can be made here."""
    needs = [name for name in ("ip", "ssh", "ssh-keygen") if shutil.which(name) is None]
    if needs or sshd() is None:
        return f"{', '.join(needs) or 'sshd'} is not here"
    if os.getuid() != 0:
        return "only root makes network namespaces"
    tag = f"mp{os.getpid() % 10_000}try"
    try:
        wire(tag)
    except subprocess.CalledProcessError as error:
        return f"no two network namespaces can be made: {str(error.stderr).strip()}"
    finally:
        for which in "ab":
            subprocess.run(("ip", "netns", "del", f"{tag}-{which}"), capture_output=True, check=False)
    return ""


def sshd() -> str | None:
    return shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")


def wire(tag: str) -> None:
    """Two namespaces with a pair of interfaces between them."""
    for which in "ab":
        run("ip", "netns", "add", f"{tag}-{which}")
        run("ip", "-n", f"{tag}-{which}", "link", "set", "lo", "up")
    run("ip", "link", "add", f"{tag}a", "netns", f"{tag}-a", "type", "veth", "peer", "name", f"{tag}b",
        "netns", f"{tag}-b")  # fmt: skip
    for which, address in (("a", HERE), ("b", THERE)):
        run("ip", "-n", f"{tag}-{which}", "address", "add", f"{address}/24", "dev", f"{tag}{which}")
        run("ip", "-n", f"{tag}-{which}", "link", "set", f"{tag}{which}", "up")


def make_keys(folder: Path) -> None:
    """An sshd's configuration that lets in nobody but the test, and a client's that knows it as `far`."""
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
    shutil.copy(folder / "user.pub", folder / "authorized")
    kind, key = (folder / "host.pub").read_text().split()[:2]
    (folder / "known").write_text(f"[{THERE}]:{SSH_PORT} {kind} {key}\n")
    (folder / "sshd_config").write_text(
        f"Port {SSH_PORT}\nListenAddress {THERE}\nHostKey {folder / 'host'}\n"
        f"AuthorizedKeysFile {folder / 'authorized'}\n"
        f"StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
        f"KbdInteractiveAuthentication no\nAllowUsers {getpass.getuser()}\n"
        f"SetEnv XDG_STATE_HOME={folder.parent / 'state'} HOME={folder.parent}\n"
    )


@pytest.fixture
def two_hosts(moonpad: Moonpad, fake_spec: Path, fake_engine: Path) -> Iterator[TwoHosts]:
    """The fake engine over two hosts; skipped where they cannot be made."""
    engine = moonpad.home / "far-engine"
    make_environment(engine, fake_engine.parent.parent / "fake_engine")
    program = engine / "bin" / "vllm"
    program.write_text(program.read_text().replace("exec", f'[ ! -e "{engine}/env" ] || . "{engine}/env"\nexec', 1))
    text = re.sub(r"\n\n\[endpoint\]", "\n\n[layout]\ntp = 2\n\n[endpoint]", fake_spec.read_text())
    with open_hosts(moonpad, text, engine) as hosts:
        yield hosts


@contextmanager
def open_hosts(moonpad: Moonpad, spec: str, engine: Path, *, own_shm: bool = False) -> Iterator[TwoHosts]:
    """Two hosts, and the spec `two` over them; skipped where they cannot be made. SGLang's ranks take hosts that share
    their memory (not `own_shm`) for one."""
    if reason := why_not():
        pytest.skip(reason)
    with alone():
        yield from _opened(moonpad, spec, engine, own_shm=own_shm)


@contextmanager
def alone() -> Iterator[None]:
    """One test at a time: the port at which an engine's ranks meet is the same in all, and a run claims its ports among
    all runs of a machine, whatever network each is in."""
    with (Path(tempfile.gettempdir()) / f"moonpad-test-two-hosts-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _opened(moonpad: Moonpad, spec: str, engine: Path, *, own_shm: bool) -> Iterator[TwoHosts]:
    tag = f"mp{os.getpid() % 10_000}{time.monotonic_ns() % 1000}"
    folder = moonpad.home / "far"
    folder.mkdir()
    keys = folder / "ssh"
    make_keys(keys)
    (moonpad.home / ".ssh").mkdir(mode=0o700)
    (moonpad.home / ".ssh" / "config").write_text(
        f"Host far\nHostName {THERE}\nPort {SSH_PORT}\nUser {getpass.getuser()}\nIdentityFile {keys / 'user'}\n"
        f"IdentitiesOnly yes\nUserKnownHostsFile {keys / 'known'}\nStrictHostKeyChecking yes\n"
    )
    path = moonpad.home / "two.toml"
    path.write_text(
        f'{spec}\n[[hosts]]\naddress = "{HERE}"\n'
        f'\n[[hosts]]\naddress = "{THERE}"\nssh = "far"\nengine_folder = "{engine}"\n'
    )
    # ssh asks the password database for the home of its user, and not HOME: the configuration is said in the command.
    shim = folder / "bin" / "ssh"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {moonpad.home}/.ssh/config "$@"\n')
    shim.chmod(0o755)
    needs = Path("/run/sshd")  # an sshd that runs as root wants it, empty
    created = not needs.exists()
    needs.mkdir(mode=0o755, exist_ok=True)
    wire(tag)
    hosts = TwoHosts(moonpad, tag, folder, path, engine, own_shm)
    env = {**moonpad.env, "PATH": f"{shim.parent}:{moonpad.env['PATH']}"}
    hosts = replace(hosts, moonpad=InNamespace(moonpad.home, env, hosts.inside("a")))
    try:
        hosts.start_sshd()
        yield hosts
    finally:
        hosts.stop_sshd()
        for which in "ab":
            run("ip", "netns", "del", f"{tag}-{which}")
        if created:
            needs.rmdir()


@dataclass(frozen=True)
class InNamespace(Moonpad):
    """The command on the first host."""

    prefix: tuple[str, ...] = ()

    def command(self, *argv: str) -> tuple[str, ...]:
        return (*self.prefix, sys.executable, "-m", "moonpad", *argv)
