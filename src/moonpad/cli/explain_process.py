"""The command line of a process that runs on this host, for `moonpad explain --pid`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from moonpad.engines.foreign_names import EXAMPLES, VARIABLES
from moonpad.explain.script import read_command
from moonpad.facts.processes import find_descendants, read_stat
from moonpad.values.errors import UsageError
from moonpad.values.redaction import remember_environment

_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASSW", re.IGNORECASE)
_ANCESTORS: Final = 5
_MOST_BYTES: Final = 1_000_000


class RunningCommand(NamedTuple):
    words: list[str]
    env: dict[str, str]
    folder: Path | None
    """Its working directory, where it may be seen."""


def running_command(pid: int) -> RunningCommand:
    """Raises UsageError where there is no such process, or where it starts no engine: then it names a relative that
    does."""
    words = _words(pid)
    if read_stat(pid) is None:
        raise UsageError(f"no process has the id {pid}", remedy="find it with ps, or with moonpad runs")
    if not words:
        raise _no_engine(pid, "has no command line: it belongs to the kernel, or has ended")
    if not _starts_engine(words):
        raise _no_engine(pid, f"({words[0][:60]}) starts no engine")
    return RunningCommand(words, _environment(pid), _folder(pid))


def _no_engine(pid: int, what: str) -> UsageError:
    for relation, relative in _relatives(pid):
        if _starts_engine(_words(relative)):
            return UsageError(f"process {pid} {what}; its {relation} {relative} does", remedy=f"--pid {relative}")
    return UsageError(f"process {pid} {what}", remedy=f"take the process that was started as {EXAMPLES}")


def _relatives(pid: int) -> Iterator[tuple[str, int]]:
    above = pid
    for _ in range(_ANCESTORS):
        stat = read_stat(above)
        if stat is None or stat.parent <= 1:
            break
        above = stat.parent
        yield ("parent" if read_stat(pid) and above == getattr(read_stat(pid), "parent", 0) else "ancestor"), above
    for below in sorted(find_descendants({pid})):
        yield "child", below


def _starts_engine(words: list[str]) -> bool:
    commands = read_command(words).commands if words else ()
    return any(command.program not in ("other", "docker", "fragment", "ray") for command in commands)


def _words(pid: int) -> list[str]:
    """An engine that has renamed itself (`VLLM::EngineCore`) has one word, filled up with blanks."""
    return [word.decode("utf-8", "replace").strip() for word in _read(pid, "cmdline").split(b"\0") if word.strip()]


def _environment(pid: int) -> dict[str, str]:
    """As far as it may be seen; keys are left out, and never printed."""
    pairs = (entry.decode("utf-8", "replace").partition("=") for entry in _read(pid, "environ").split(b"\0"))
    environ = {name: value for name, equals, value in pairs if equals}
    remember_environment(environ)
    return {name: value for name, value in environ.items() if VARIABLES.fullmatch(name) and not _SECRET.search(name)}


def _folder(pid: int) -> Path | None:
    try:
        return Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return None


def _read(pid: int, name: str) -> bytes:
    try:
        with Path(f"/proc/{pid}/{name}").open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return b""
