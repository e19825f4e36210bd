"""Files that are not what a path of that name should be, and texts that cost a careless parser dear."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

GB = 1 << 30


def fifo(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def socket_file(path: Path) -> None:
    here = os.open(path.parent, os.O_PATH)  # the path of a socket may have 107 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{here}/{path.name}")
    os.close(here)


def link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 20 * GB)


def holding(make: Callable[[], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(make())


SPECIAL: Mapping[str, Callable[[Path], object]] = {
    "fifo": fifo,
    "folder": folder,
    "socket": socket_file,
    "zero": link_to("/dev/zero"),
    "tty": link_to("/dev/tty"),
    "full": link_to("/dev/full"),
    "dangling": link_to("/nowhere/at/all"),
    "loop": loop,
    "sparse": sparse,
    "memory": link_to("/proc/self/mem"),
}
"""What is not a file of a plausible size."""

CONTENT: Mapping[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "nul": lambda: bytes(1000),
    "binary": lambda: bytes(range(256)) * 4000,
    "quotes": lambda: b'"' * 900_000,
    "brackets": lambda: b"[" * 900_000,
    "braces": lambda: b'{"a":' * 150_000,
    "digits": lambda: b"9" * 900_000,
    "json-digits": lambda: b'{"a": ' + b"9" * 900_000 + b"}",
    "half-json": lambda: b'{"schema": 2, "run": "x',
    "json-list": lambda: b"[1, 2]",
    "json-nan": lambda: b'{"a": NaN, "b": Infinity, "c": 1e999}',
    "surrogates": lambda: b'{"a": "\\ud800", "\\udfff": "\\u0000"}',
    "latin": lambda: b"caf\xe9\n",
    "newlines": lambda: b"\n" * 900_000,
    "one-line": lambda: b"x" * 900_000,
    "backslashes": lambda: b'"' + b"\\" * 900_000,
    "spaces": lambda: b" " * 900_000,
    "keys": lambda: b"{" + b",".join(b'"%d": 1' % number for number in range(60_000)) + b"}",
}
"""Regular files of less than a megabyte that any reader may be given."""
