"""Where a run may live: as PID 1, under a service manager, behind ssh, with a cgroup or without, as nobody."""

from __future__ import annotations

import base64
import getpass
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from moonpad.facts.processes import find_descendants, is_alive, read_stat, send_signal
from moonpad.run.keeper import cgroup
from moonpad.run.keeper_archive import keeper_archive
from moonpad.run.ssh_hosts import BOOTSTRAP
from tests.conftest import Moonpad
from tests.faults.helpers import (
    await_event,
    await_gone,
    await_state,
    events_of,
    everybody,
    job_of,
    keeper_document,
    keeper_of,
    owned_of,
    pid_of_role,
    set_launch,
    status_of,
    wait_until,
)
from tests.faults.two_hosts import sshd
from tests.ports import free_port

pytestmark = pytest.mark.usefixtures("clean_world")

GONE_S = 15.0


NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc")


def may_unshare() -> bool:
    return subprocess.run((*NAMESPACE, "true"), capture_output=True, check=False).returncode == 0


def zombies_below(pid: int) -> list[int]:
    """Children of a process that have ended and that nobody has collected."""
    pids = []
    for path in Path("/proc").iterdir():
        seen = read_stat(int(path.name)) if path.name.isdigit() else None
        if seen and seen[0] == pid and seen[2] == "Z":
            pids.append(int(path.name))
    return pids


@pytest.mark.skipif(not shutil.which("unshare") or not may_unshare(), reason="no PID namespace can be made here")
@pytest.mark.parametrize("deaf", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["listens", "deaf to TERM"])
def test_pid_1(moonpad: Moonpad, fake_spec: Path, deaf: bool) -> None:
    """`up --foreground` as the first process of a container: TERM stops the engine before the kernel would kill it, and
    orphans of others are collected."""
    set_launch(fake_spec, stop_grace="1s")
    outer = subprocess.Popen(
        (*NAMESPACE, sys.executable, "-m", "moonpad", "up", str(fake_spec), "--foreground"),
        env={**moonpad.env, **({"FAKE_IGNORE_TERM": "1"} if deaf else {})},
        cwd=moonpad.home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        await_event(moonpad, "ready")
        (first,) = [pid for pid in find_descendants({outer.pid}) if read_stat(pid)[0] == outer.pid]  # type: ignore[index]
        inside = find_descendants({first})
        assert len(inside) >= 4
        wait_until(lambda: not zombies_below(first), lambda: f"zombies: {zombies_below(first)}", 10.0)
        os.kill(first, signal.SIGTERM)
        _, errors = outer.communicate(timeout=GONE_S)
    finally:
        outer.kill()
        outer.communicate()
    assert outer.returncode == 0, f"TERM is how a container is stopped: {errors}"
    assert not any(is_alive(pid, start) for pid, start in inside.items())
    (stopped,) = events_of(moonpad, "stopped")
    assert stopped["left"] == []
    assert bool(stopped["killed"]) == deaf, "the engine was stopped in order, not by the end of its namespace"
    assert status_of(moonpad)["state"] == "stopped"


def test_notifies_a_service_manager(moonpad: Moonpad, fake_spec: Path) -> None:
    """Under systemd (`Type=notify`): READY=1 once it is *ready*, not before; TERM ends it as a service ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0moonpad-test-{os.getpid()}-{time.monotonic_ns()}")
        manager.settimeout(30.0)
        name = "@" + manager.getsockname()[1:].decode()
        up = moonpad.start("up", str(fake_spec), "--foreground", NOTIFY_SOCKET=name, FAKE_LOAD_S="1")
        try:
            words = manager.recv(4096).decode().splitlines()
            while "READY=1" not in words:
                assert not events_of(moonpad, "ready"), f"it is ready, and the word was {words}"
                words = manager.recv(4096).decode().splitlines()
            assert events_of(moonpad, "ready"), "said too early"
        finally:
            up.terminate()
            _, errors = up.communicate(timeout=GONE_S)
        assert up.returncode == 0, f"TERM is how a service is stopped: {errors}"
    assert status_of(moonpad)["state"] == "stopped"


@dataclass(frozen=True)
class Remote:
    """This machine, by way of an sshd of our own."""

    config: Path

    def command(self, *argv: str) -> tuple[str, ...]:
        return ("ssh", "-F", str(self.config), "remote", shlex.join(argv))


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    """An sshd with keys of its own on a port of the loopback, which lets in nobody but the test."""
    program = sshd()
    if program is None or not shutil.which("ssh-keygen"):
        pytest.skip("there is no sshd here (package openssh-server)")
    folder = tmp_path / "ssh"
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)), check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    port = free_port()
    host_key = (folder / "host.pub").read_text().split()
    (folder / "known").write_text(f"[127.0.0.1]:{port} {host_key[0]} {host_key[1]}\n")
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder / 'host'}\nAuthorizedKeysFile {folder / 'authorized'}\n"
        f"StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
        f"KbdInteractiveAuthentication no\nAllowUsers {getpass.getuser()}\n"
    )
    (folder / "config").write_text(
        f"Host remote\nHostName 127.0.0.1\nPort {port}\nUser {getpass.getuser()}\nIdentityFile {folder / 'user'}\n"
        f"IdentitiesOnly yes\nUserKnownHostsFile {folder / 'known'}\nStrictHostKeyChecking yes\nBatchMode yes\n"
    )
    needs = Path("/run/sshd")  # an sshd that runs as root wants it, empty
    created = os.getuid() == 0 and not needs.exists()
    if created:
        needs.mkdir(mode=0o755)
    log = folder / "log"
    server = subprocess.Popen((program, "-D", "-f", str(folder / "sshd_config"), "-E", str(log)))
    try:
        remote = Remote(folder / "config")
        until = time.monotonic() + 10.0
        while (tried := subprocess.run(remote.command("true"), capture_output=True, text=True, check=False)).returncode:
            if server.poll() is not None or time.monotonic() > until:
                pytest.skip(f"sshd lets nobody in here: {tried.stderr.strip()} {log.read_text().strip()[-300:]}")
            time.sleep(0.1)
        yield remote
    finally:
        server.terminate()
        server.wait(10)
        if created:
            needs.rmdir()


def test_ssh_client_killed(moonpad: Moonpad, fake_spec: Path, remote: Remote) -> None:
    """Fault 29's first half: `up` by ssh, the client is killed while the engine loads. It lives on; `down` cleans."""
    env = [f"{name}={value}" for name, value in {**moonpad.env, "FAKE_LOAD_S": "2"}.items()]
    client = subprocess.Popen(
        remote.command("env", *env, sys.executable, "-m", "moonpad", "up", str(fake_spec), "--no-wait"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    engine = await_event(moonpad, "spawned")["pid"]
    client.kill()
    client.communicate()
    await_event(moonpad, "ready")
    status = await_state(moonpad, "ready")
    assert status["pid"] == engine, "the same one"
    assert len(events_of(moonpad, "spawned")) == 1
    down = moonpad("down", "fake")
    assert down.code == 0, down.stderr


DETACHES = """
(setsid sh -c 'trap "" HUP; sleep 600' &)
exec sleep 600
"""


def test_keeper_bytes_over_ssh(moonpad: Moonpad, remote: Remote) -> None:
    """The keeper needs nothing on the other side but a Python: its archive and its job are standard input. It answers,
    lives on when the client is killed, and stops what it has started, orphans too."""
    folder = moonpad.state / "runs" / "far"
    job = job_of(folder, ["/bin/sh", "-c", DETACHES], dict(moonpad.env))
    command = remote.command(sys.executable, "-I", "-S", "-c", BOOTSTRAP, "keep", str(folder))
    client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert client.stdin is not None
    assert client.stdout is not None
    with client.stdin:
        client.stdin.write(f"{base64.b64encode(keeper_archive()).decode()}\n{json.dumps(job)}")
    answer = json.loads(client.stdout.readline())
    assert answer["ok"], answer
    client.kill()
    client.wait(10)
    client.stdout.close()

    def owned() -> dict[int, int]:
        return {
            process["pid"]: process["start"] for process in json.loads((folder / "keeper.json").read_text())["owned"]
        }

    wait_until(lambda: len(owned()) >= 3, lambda: (folder / "keeper.json").read_text(), 10.0)
    document = json.loads((folder / "keeper.json").read_text())
    own = document["keeper"]
    assert own["pid"] == answer["pid"]
    assert all(is_alive(pid, start) for pid, start in owned().items())
    living = {**owned(), own["pid"]: own["start"]}
    send_signal(own["pid"], own["start"], signal.SIGTERM)
    await_gone(living, GONE_S)
    assert json.loads((folder / "keeper.json").read_text())["state"] == "stopped"
    assert not Path(job["lock"]).exists()


def writable_cgroup() -> bool:
    path = cgroup.name_new()
    created = cgroup.make(path) if path else ""
    cgroup.remove(created)
    return bool(created)


CGROUPS = [
    pytest.param("on", marks=pytest.mark.skipif(not writable_cgroup(), reason="no cgroup v2 can be made here")),
    pytest.param("off", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("cgroup", CGROUPS)
def test_with_and_without_a_cgroup(moonpad: Moonpad, fake_spec: Path, cgroup: str) -> None:
    """Fault 5 where the kernel keeps the set, and where parentage alone does; a cgroup goes with its run."""
    set_launch(fake_spec, stop_grace="1s")
    env = {"MOONPAD_CGROUP": cgroup, "FAKE_IGNORE_TERM": "1"}
    assert moonpad("up", str(fake_spec), **env).code == 0
    folder = keeper_document(moonpad)["cgroup"]
    assert bool(folder) == (cgroup == "on")
    owned = owned_of(moonpad)
    if folder:
        inside = {int(line) for line in (Path(folder) / "cgroup.procs").read_text().split()}
        assert inside == set(owned), "all of the engine, and nothing else"
        assert keeper_of(moonpad)[0] not in inside
    os.kill(pid_of_role(moonpad, "api"), signal.SIGKILL)
    await_gone(everybody(moonpad), GONE_S)
    failed = await_event(moonpad, "failed")
    assert failed["left"] == []
    assert "oom_kills" in failed
    assert not folder or not Path(folder).exists()


@pytest.mark.slow
@pytest.mark.parametrize("cgroup", CGROUPS)
def test_keeper_killed_with_and_without_a_cgroup(moonpad: Moonpad, fake_spec: Path, cgroup: str) -> None:
    """Fault 8: `down` finishes the job in both, and leaves no cgroup."""
    set_launch(fake_spec, stop_grace="1s")
    assert moonpad("up", str(fake_spec), MOONPAD_CGROUP=cgroup).code == 0
    folder = keeper_document(moonpad)["cgroup"]
    living = everybody(moonpad)
    send_signal(*keeper_of(moonpad), signal.SIGKILL)
    down = moonpad("down", "fake")
    assert down.code == 0, down.stderr
    await_gone(living, 1.0)
    assert not folder or not Path(folder).exists()
