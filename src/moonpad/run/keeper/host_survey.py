"""What a host says of itself when `moonpad doctor` asks: files as they are, what commands print, a few calls.

Nothing is judged here, so that one program reads every host the same way (doctor/survey.py). Standard library only,
Python ≥ 3.9: the keeper's archive takes this file to other hosts.
"""

from __future__ import annotations

import contextlib
import glob
import mmap
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

MOST_CHARACTERS = 400_000
"""Of a file or an output: what is longer is cut."""
MOST_MATCHES = 4_000
REAP_S = 1.0
CONNECT_LIMIT_S = 2.0
READ_BYTES = 8 << 20
WORKERS = 16


def take_survey(question: dict[str, Any]) -> dict[str, Any]:
    """Of `{"files": [patterns], "commands": {name: [seconds, word, …]}, "folders": [paths], "names": [host names],
    "ports": [numbers], "read": [paths], "reach": [[address, port], …]}`, each of which may be missing.

    Patterns are the shell's. A file that cannot be read, a command that is not there or takes too long, is an object
    with the reason under `"error"`. All commands run at the same time, and are killed at their limits. In the answer
    `clocks_s` is this host's clock, before and after.
    """
    begun_s = time.time()
    with ThreadPoolExecutor(WORKERS) as pool:
        commands = {
            name: pool.submit(run_command, words[1:], words[0]) for name, words in question.get("commands", {}).items()
        }
        reached = [pool.submit(reach, address, port) for address, port in question.get("reach", [])]
        answer = {
            "host": socket.gethostname(),
            "user": os.getuid(),
            "system": [platform.system(), platform.release(), platform.machine()],
            "libc": list(platform.libc_ver()),
            "python": list(sys.version_info[:3]),
            "cores": len(os.sched_getaffinity(0)),
            "environment": {name: os.environ[name] for name in question.get("variables", []) if name in os.environ},
            "files": read_files(question.get("files", [])),
            "folders": {path: read_folder(path) for path in question.get("folders", [])},
            "limits": read_limits(),
            "names": {name: resolve(name) for name in [socket.gethostname(), *question.get("names", [])]},
            "ports": {str(port): try_port(port) for port in question.get("ports", [])},
        }
        answer["commands"] = {name: command.result() for name, command in commands.items()}
        answer["reached"] = [result.result() for result in reached]
    # After the commands, which read the disk too.
    answer["speeds"] = {path: read_speed(path, question.get("read_s", 0.5)) for path in question.get("read", [])}
    answer["clocks_s"] = [begun_s, time.time()]
    return answer


def run_command(words: list[str], limit_s: float) -> dict[str, Any]:
    begun = time.monotonic()
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C", "LANG": "C"},
            universal_newlines=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return {"error": f"{words[0]}: {error.strerror or error}", "missing": isinstance(error, FileNotFoundError)}
    try:
        stdout, stderr = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return {"error": f"{words[0]} did not end within {limit_s:g} s", "late": True}
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):  # inside a driver SIGKILL ends nothing
            process.wait(timeout=REAP_S)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    return {
        "stdout": stdout[:MOST_CHARACTERS],
        "stderr": stderr[:MOST_CHARACTERS],
        "returncode": process.returncode,
        "took_s": round(time.monotonic() - begun, 3),
    }


def read_files(patterns: list[str]) -> dict[str, Any]:
    """path → text, or `{"error": why}`; a pattern that nothing matches has no entry."""
    found: dict[str, Any] = {}
    for pattern in patterns:
        for path in sorted(glob.glob(pattern))[:MOST_MATCHES]:
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    found[path] = file.read(MOST_CHARACTERS)
            except OSError as error:
                found[path] = {"error": error.strerror or str(error)}
    return found


def read_folder(path: str) -> dict[str, Any]:
    """The file system below a folder, or below its nearest parent that is there."""
    for place in (Path(path), *Path(path).parents):
        try:
            stat = os.statvfs(place)
        except OSError as error:
            if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
                return {"error": f"{place}: {error.strerror or error}"}
            continue
        return {
            "there": str(place) == str(Path(path)),
            "writable": os.access(place, os.W_OK),
            "total_bytes": stat.f_blocks * stat.f_frsize,
            "free_bytes": stat.f_bavail * stat.f_frsize,
            "free_files": stat.f_favail if stat.f_files else None,
        }
    return {"error": "no such folder"}


def read_limits() -> dict[str, list[int]]:
    """[soft, hard] of this session; -1 is no limit (getrlimit(2))."""
    names = {"memlock": resource.RLIMIT_MEMLOCK, "files": resource.RLIMIT_NOFILE, "processes": resource.RLIMIT_NPROC}
    return {name: list(resource.getrlimit(number)) for name, number in names.items()}


def resolve(name: str) -> Any:
    try:
        return sorted({entry[4][0] for entry in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)})
    except (OSError, UnicodeError) as error:
        return {"error": str(error)}


def try_port(port: int) -> str:
    """Why it cannot be listened on at every address of this host, "" where it can."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("", port))
            sock.listen(1)
    except (OSError, OverflowError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""


def reach(address: str, port: int) -> dict[str, Any]:
    """Whether a connection can be made, and whether packets as long as this host's interface sends arrive whole.

    The other end is `serve_reach`. `"mtu"` is that of the interface towards it, `"longest"` True where a datagram of
    that size, which may not be split, was answered; None where that could not be tried.
    """
    begun = time.monotonic()
    try:
        with socket.create_connection((address, port), timeout=CONNECT_LIMIT_S) as connection:
            own = connection.getsockname()[0]
    except OSError as error:
        return {"error": str(error)}
    took_s = time.monotonic() - begun
    return {"own": own, "took_s": round(took_s, 6), **try_longest(address, port)}


IP_MTU_DISCOVER, IP_PMTUDISC_PROBE, IP_MTU = 10, 3, 14
"""ip(7). PROBE sends with DF, and does not believe an earlier answer about the path."""
HEADERS_BYTES = 28
TRIES = 2
ECHO_LIMIT_S = 0.7


def try_longest(address: str, port: int) -> dict[str, Any]:
    if ":" in address:
        return {"mtu": None, "longest": None}
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
            sock.settimeout(ECHO_LIMIT_S)
            sock.connect((address, port))
            mtu = sock.getsockopt(socket.IPPROTO_IP, IP_MTU)
            small = echoed(sock, 64)
            if not small or mtu > 65_535:  # UDP is filtered, or the loopback
                return {"mtu": mtu, "longest": None}
            return {"mtu": mtu, "longest": echoed(sock, mtu - HEADERS_BYTES)}
    except OSError:
        return {"mtu": None, "longest": None}


def echoed(sock: socket.socket, size: int) -> bool:
    """Whether the other end says that it got so many bytes."""
    for _ in range(TRIES):
        with contextlib.suppress(OSError):
            sock.send(b"\0" * size)
            if int(sock.recv(64)) == size:
                return True
    return False


def serve_reach(address: str, wanted: list[int], limit_s: float) -> None:
    """Listens at the address, on each wanted port that is free and on one that the system chooses; prints them as JSON,
    and answers `reach` until standard input ends, at the most so long."""
    import json
    import selectors

    ports: dict[str, int] = {}
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        for port in (0, *wanted):
            with contextlib.suppress(OSError):
                listener = stack.enter_context(socket.create_server((address, port)))
                datagrams = stack.enter_context(socket.socket(listener.family, socket.SOCK_DGRAM))
                datagrams.bind((address, listener.getsockname()[1]))
                ports[str(port)] = listener.getsockname()[1]
                selector.register(listener, selectors.EVENT_READ)
                selector.register(datagrams, selectors.EVENT_READ)
        print(json.dumps({"ports": ports}), flush=True)
        selector.register(sys.stdin, selectors.EVENT_READ)
        until = time.monotonic() + limit_s
        while (left_s := until - time.monotonic()) > 0:
            for key, _ in selector.select(left_s):
                if key.fileobj is sys.stdin:
                    if not os.read(0, 4096):
                        return
                elif isinstance(key.fileobj, socket.socket):
                    answer_reach(key.fileobj)


def answer_reach(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        if sock.type == socket.SOCK_STREAM:
            sock.accept()[0].close()
        else:
            data, sender = sock.recvfrom(1 << 16)
            sock.sendto(str(len(data)).encode(), sender)


def read_speed(path: str, limit_s: float) -> dict[str, Any]:
    """How fast the largest file of a folder is read, past the page cache, from its middle on; one reader."""
    files = [entry for entry in Path(path).iterdir() if entry.is_file()] if os.path.isdir(path) else []
    largest = max(files, key=lambda entry: entry.stat().st_size, default=None)
    if largest is None or largest.stat().st_size < 4 * READ_BYTES:
        return {"error": "no file of a size that tells"}
    size = largest.stat().st_size
    try:
        handle = os.open(largest, os.O_RDONLY | os.O_DIRECT)
    except OSError as error:
        return {"error": f"its file system has no direct reads: {error.strerror or error}"}
    read_bytes, begun = 0, time.monotonic()
    try:
        with mmap.mmap(-1, READ_BYTES) as buffer:  # aligned to a page, as O_DIRECT asks
            os.lseek(handle, size // 2 // READ_BYTES * READ_BYTES, os.SEEK_SET)
            while (took_s := time.monotonic() - begun) < limit_s:
                count = os.readv(handle, [buffer])
                if count < READ_BYTES:
                    os.lseek(handle, 0, os.SEEK_SET)
                read_bytes += count
    except OSError as error:
        return {"error": error.strerror or str(error)}
    finally:
        os.close(handle)
    return {"file": largest.name, "bytes_per_s": read_bytes / took_s, "read_bytes": read_bytes}
