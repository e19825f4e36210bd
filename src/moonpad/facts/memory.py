"""RAM: what the machine has, and the limit of a cgroup (a container, a batch job, a slice) where that is lower."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from moonpad.facts.probe import Unknown, parsed, read_text
from moonpad.values.units import KIB

ROOT: Final = Path("/")


@dataclass(frozen=True, slots=True)
class Ram:
    """`total_bytes` could ever be used by us, `available_bytes` now, without swapping.

    `limited_by` is the cgroup whose limit is lower than the machine's RAM, "" where there is none.
    """

    total_bytes: int
    available_bytes: int
    limited_by: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    cgroup: str
    limit_bytes: int
    used_bytes: int


def memory(root: Path = ROOT) -> Ram | Unknown:
    """`root` is where `proc` and `sys` are: tests give a recorded tree."""
    machine = parsed(read_text(root / "proc/meminfo"), parse_meminfo)
    return machine if isinstance(machine, Unknown) else under_limits(machine, tuple(cgroup_limits(root)))


def parse_meminfo(text: str) -> Ram:
    """MemTotal and MemAvailable of Linux' /proc/meminfo, whose "kB" are KiB. Raises ValueError where one is missing."""
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    try:
        total, available = (int(fields[name].split()[0]) * KIB for name in ("MemTotal", "MemAvailable"))
    except (KeyError, IndexError) as error:
        raise ValueError("/proc/meminfo has no MemTotal or MemAvailable") from error
    return Ram(total, available)


def under_limits(machine: Ram, limits: tuple[Limit, ...]) -> Ram:
    """The lowest limit counts, and of what is left the least: a parent may be fuller than its child."""
    tight = [limit for limit in limits if limit.limit_bytes < machine.total_bytes]
    if not tight:
        return machine
    lowest = min(tight, key=lambda limit: limit.limit_bytes)
    left_bytes = min(max(0, limit.limit_bytes - limit.used_bytes) for limit in tight)
    return Ram(lowest.limit_bytes, min(machine.available_bytes, left_bytes), lowest.cgroup)


def cgroup_limits(root: Path) -> Iterator[Limit]:
    """The limits of our cgroup and of each of its parents, version 2 (`0::/path`) and 1 (`N:memory:/path`)."""
    own = read_text(root / "proc/self/cgroup")
    if isinstance(own, Unknown):
        return
    for line in own.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            yield from _limits(root / "sys/fs/cgroup", path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            folder = root / "sys/fs/cgroup/memory"
            yield from _limits(folder, path, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def _limits(mount: Path, path: str, limit_file: str, used_file: str, cache_field: str) -> Iterator[Limit]:
    # Inside a container the path is the host's while the mount shows the container's own group as its top: where the
    # path is not there, the top still is.
    own = PurePosixPath(path.lstrip("/"))
    for group in (own, *own.parents):
        folder = mount / group
        limit, used = _number(folder / limit_file), _number(folder / used_file)
        if limit is not None and used is not None:
            # Page cache counts as used, and the kernel drops it before it kills anybody; kubelet subtracts it too.
            yield Limit(f"/{group}".replace("/.", "/"), limit, max(0, used - _cache_bytes(folder, cache_field)))


def _number(path: Path) -> int | None:
    """None for `max`, and where there is no such file."""
    text = read_text(path)
    return int(text) if isinstance(text, str) and text.strip().isdigit() else None


def _cache_bytes(folder: Path, field: str) -> int:
    text = read_text(folder / "memory.stat")
    rows = [line.split() for line in text.splitlines()] if isinstance(text, str) else []
    return next((int(row[1]) for row in rows if len(row) == 2 and row[0] == field and row[1].isdigit()), 0)
