"""Which system this is, in the words of `uname` and of the C library."""

from __future__ import annotations

import platform
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class System:
    """`system` is "Linux", "Darwin"; `machine` "x86_64", "aarch64", "arm64"; `glibc` None on every other C library."""

    system: str
    machine: str
    glibc: tuple[int, int] | None

    def __str__(self) -> str:
        return f"{'macOS' if self.system == 'Darwin' else self.system} on {self.machine}"


def this_system() -> System:
    return System(platform.system(), platform.machine(), parse_glibc(*platform.libc_ver()))


def parse_glibc(library: str, version: str) -> tuple[int, int] | None:
    """`("glibc", "2.36")` → (2, 36)."""
    major, _, minor = version.partition(".")
    minor = minor.partition(".")[0]
    if library != "glibc" or not (major.isdigit() and minor.isdigit()):
        return None
    return int(major), int(minor)
