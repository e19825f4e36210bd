"""The keeper's parts, each alone: what the dead leave, the log, the journal, locks, causes of death, the socket."""

from __future__ import annotations

import ast
import errno
import faulthandler
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from moonpad.facts import processes
from moonpad.facts.processes import age_s, describe_status, is_alive, read_exit_status, read_stat, send_signal
from moonpad.run.keeper import cgroup
from moonpad.run.keeper.control_socket import CLIENTS, REQUEST_BYTES
from moonpad.run.keeper.shared_memory import (
    RESERVE,
    RESERVE_BYTES,
    SHARED_MEMORY,
    find_shared_memory,
    find_unused,
    parse_inotify,
    read_reserve,
    remove_shared_memory,
    watch_shared_memory,
    write_reserve,
)
from moonpad.run.keeper.stop import name_temp_dir, remove_temp_dir, stop_all
from moonpad.run.keeper_archive import keeper_archive


def test_is_python_3_9() -> None:
    """The same bytes run on hosts whose Python is older than ours."""
    with zipfile.ZipFile(io.BytesIO(keeper_archive())) as archive:
        for name in archive.namelist():
            ast.parse(archive.read(name), feature_version=(3, 9))


# --- what the dead leave ---


def test_only_our_temporary_directories_are_removed(tmp_path: Path) -> None:
    temp_dir = name_temp_dir(str(tmp_path))
    Path(temp_dir).mkdir()
    Path(temp_dir, "sub").mkdir()
    Path(temp_dir, "sub", "file").touch()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(f"{temp_dir}/zmq")
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (tmp_path / f"moonpad-{os.getuid()}-link").symlink_to(stranger)
    assert remove_temp_dir(temp_dir) == 2
    assert remove_temp_dir(str(stranger)) == 0
    assert remove_temp_dir(str(tmp_path / f"moonpad-{os.getuid()}-link")) == 0
    assert remove_temp_dir("") == 0
    assert stranger.is_dir()
    assert not Path(temp_dir).exists()


def test_a_status_collected_between_two_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before its parent collects it the kernel's pidfd says nothing, after that /proc does."""
    answers = iter([None, signal.SIGKILL.value])
    monkeypatch.setattr(processes, "_collected_status", lambda handle: next(answers))
    monkeypatch.setattr(processes, "_stat_fields", lambda pid: None)
    assert read_exit_status(0, 1) == signal.SIGKILL


def test_semaphores_are_known_by_their_inode() -> None:
    """What sem_open(3) has mapped bears another name in /proc/PID/maps, which is gone."""
    script = (
        "import multiprocessing, sys\n"
        "lock = multiprocessing.get_context('spawn').Lock()\n"
        "print('/dev/shm/sem.' + lock._semlock.name.lstrip('/'), flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen((sys.executable, "-c", script), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    path = child.stdout.readline().strip()
    assert Path(path).exists()
    assert path in find_shared_memory({child.pid: 0})
    assert path not in find_shared_memory({os.getpid(): 0})
    child.communicate("")


@pytest.mark.parametrize("how", ["mapped", "open"])
def test_what_a_process_holds_is_kept(how: str) -> None:
    path = f"/dev/shm/psm_moonpad_{os.getpid()}_{how}"
    script = (
        "import mmap, os, sys\n"
        f"handle = os.open({path!r}, os.O_RDWR | os.O_CREAT, 0o600); os.ftruncate(handle, 4096)\n"
        f"kept = mmap.mmap(handle, 4096); os.close(handle) if {how!r} == 'mapped' else kept.close()\n"
        "print(flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen((sys.executable, "-c", script), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    try:
        assert find_unused([path, "/dev/shm/psm_is_not_there"]) == set()
        child.communicate("")
        assert find_unused([path, "/dev/shm/psm_is_not_there"]) == {path}
    finally:
        Path(path).unlink()


def test_names_of_what_was_made() -> None:
    handle = watch_shared_memory()
    assert handle is not None
    names = [f"psm_moonpad_{os.getpid()}_{'n' * length}" for length in (1, 40)]
    for name in names:
        Path("/dev/shm", name).touch()
        Path("/dev/shm", name).unlink()
    names_read = parse_inotify(os.read(handle, 1 << 16))
    os.close(handle)
    assert [name for name in names_read if name in names] == names


def test_only_known_shared_memory_is_removed(tmp_path: Path) -> None:
    precious = Path(f"/dev/shm/weights_{os.getpid()}")
    precious.touch()
    try:
        assert remove_shared_memory({str(precious), f"/dev/shm/psm_/../{precious.name}"}) == []
        assert precious.exists()
    finally:
        precious.unlink()


# --- causes of death ---


def died_by(code: str) -> str:
    """How a grandchild ended, whose own parent has collected it already, as the keeper tells it."""
    read, write = os.pipe()
    parent = os.fork()
    if parent == 0:
        child = os.fork()
        if child == 0:
            faulthandler.disable()  # pytest's own would print a traceback
            select.select([], [], [], 0.3)
            exec(code)  # noqa: S102 - ours
        os.write(write, str(child).encode())
        os.waitpid(child, 0)
        select.select([], [], [], 2.0)
        os._exit(0)
    pid = int(os.read(read, 20))
    handle = os.pidfd_open(pid)
    select.select([handle], [], [])
    select.select([], [], [], 0.05)  # until it has been collected
    cause = describe_status(read_exit_status(handle, pid))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    for descriptor in (handle, read, write):
        os.close(descriptor)
    return cause


@pytest.mark.parametrize(
    ("code", "cause"), [("os.abort()", "SIGABRT"), ("os._exit(3)", "exit 3"), ("os.kill(os.getpid(), 9)", "SIGKILL")]
)
def test_cause_of_a_stranger_s_child(code: str, cause: str) -> None:
    major, minor = (int(word) for word in os.uname().release.split(".")[:2])
    expected = cause if (major, minor) >= (6, 15) else "cause unknown"
    assert died_by(code) == expected


# --- the socket ---


@contextmanager
def listening(tmp_path: Path) -> Iterator[list[dict[str, Any]]]:
    """A control socket in a process of its own, as the keeper has it; what it was told, once it has ended."""
    script = (
        "import json, os, sys; os.chdir(sys.argv[1])\n"
        "from moonpad.run.keeper.control_socket import ControlSocket\n"
        "from moonpad.run.keeper.event_loop import EventLoop\n"
        "loop = EventLoop(); told = []\n"
        "control = ControlSocket(loop, lambda request: (told.append(request), {'ok': True})[1])\n"
        "print('listening', flush=True)\n"
        "while not loop.stop_signals: loop.wait(10)\n"
        "control.close(); print(json.dumps(told))"
    )
    command = (sys.executable, "-c", script, str(tmp_path))
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    requests: list[dict[str, Any]] = []
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "listening\n"
        yield requests
    finally:
        child.terminate()
        output, _ = child.communicate(timeout=10)
        requests.extend(json.loads(output))


def say(tmp_path: Path, data: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(str(tmp_path / "control.sock"))
        client.sendall(data)
        return client.recv(4096)


def test_socket_is_ours_alone(tmp_path: Path) -> None:
    with listening(tmp_path):
        assert (tmp_path / "control.sock").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "control.sock").exists()


def test_hostile_clients_do_not_block(tmp_path: Path) -> None:
    """Silent ones, endless lines, no JSON, deep nesting: the next request is answered all the same."""
    silent = [socket.socket(socket.AF_UNIX) for _ in range(CLIENTS + 5)]
    with listening(tmp_path) as requests:
        for client in silent:
            client.connect(str(tmp_path / "control.sock"))
        assert json.loads(say(tmp_path, b"no json\n"))["ok"] is False
        assert json.loads(say(tmp_path, b"[" * 50_000 + b"\n"))["ok"] is False
        assert json.loads(say(tmp_path, b"[1]\n"))["ok"] is False
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            say(tmp_path, b"x" * (64 * REQUEST_BYTES))
        assert json.loads(say(tmp_path, b'{"do": "status"}\n')) == {"ok": True}
    assert requests == [{"do": "status"}]
    for client in silent:
        client.close()


def test_request_may_come_in_pieces(tmp_path: Path) -> None:
    with listening(tmp_path) as requests, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "control.sock"))
        for byte in b'{"do": "stop"}\n':
            client.sendall(bytes([byte]))
        assert json.loads(client.recv(100)) == {"ok": True}
    assert requests == [{"do": "stop"}]


# --- stopping ---


def test_stop_never_signals_a_recycled_pid() -> None:
    child = subprocess.Popen(("sleep", "30"))
    stat = read_stat(child.pid)
    assert stat is not None
    assert send_signal(child.pid, stat[1] + 1, signal.SIGKILL) is False
    assert child.poll() is None
    assert send_signal(child.pid, stat[1], signal.SIGKILL) is True
    child.wait()
    assert send_signal(child.pid, stat[1], signal.SIGKILL) is False


def test_stop_escalates_and_counts_each_process_once() -> None:
    """Two processes, one of which is deaf to everything but KILL."""
    deaf = subprocess.Popen((sys.executable, "-c", DEAF), stdout=subprocess.PIPE)
    assert deaf.stdout is not None
    deaf.stdout.readline()
    meek = subprocess.Popen(("sleep", "30"))
    both = {process.pid: start for process in (deaf, meek) if (start := start_of(process.pid)) is not None}
    threads = [threading.Thread(target=process.wait) for process in (deaf, meek)]
    for thread in threads:
        thread.start()
    result = stop_all(
        lambda: {pid: start for pid, start in both.items() if is_alive(pid, start)},
        {meek.pid},
        0.4,
        reap=lambda: None,
        hurry=lambda: False,
    )
    assert result == {"signal": "KILL", "killed": 1, "left": []}
    for thread in threads:
        thread.join()
    deaf.stdout.close()


DEAF = (
    "import signal, time\n"
    "for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)\n"
    "print('deaf', flush=True); time.sleep(30)"
)


def start_of(pid: int) -> int | None:
    stat = read_stat(pid)
    return stat[1] if stat else None


def test_age_of_a_process() -> None:
    start = start_of(os.getpid())
    assert start is not None
    assert 0 <= age_s(start) < time.clock_gettime(time.CLOCK_BOOTTIME)


# --- the cgroup ---


def test_a_cgroup_whose_last_thread_is_on_its_way_out_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is a zombie already, its cgroup is still busy for a moment."""
    looks: list[str] = []

    def rmdir(folder: str) -> None:
        looks.append(folder)
        if len(looks) < 3:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(os, "rmdir", rmdir)
    monkeypatch.setattr(time, "sleep", lambda pause_s: None)
    cgroup.remove("/sys/fs/cgroup/moonpad-0-1")
    cgroup.remove("/sys/fs/cgroup/another")
    assert looks == ["/sys/fs/cgroup/moonpad-0-1"] * 3


def test_shared_memory_is_remembered_in_the_blocks_that_a_full_disk_still_has(tmp_path: Path) -> None:
    reserve = tmp_path / RESERVE
    assert read_reserve(str(reserve)) == set()
    write_reserve(str(reserve), {"/dev/shm/psm_a"})
    assert not reserve.exists(), "a reserve that was given up is not made again"
    reserve.write_bytes(b"\0" * RESERVE_BYTES)
    write_reserve(str(reserve), {"/dev/shm/psm_a", "/dev/shm/sem.mp-b"})
    assert reserve.stat().st_size == RESERVE_BYTES
    assert read_reserve(str(reserve)) == {"/dev/shm/psm_a", "/dev/shm/sem.mp-b"}
    write_reserve(str(reserve), {"/dev/shm/psm_c"})
    assert "/dev/shm/psm_c" in read_reserve(str(reserve))
    assert all(path.startswith(SHARED_MEMORY) for path in read_reserve(str(reserve)))
