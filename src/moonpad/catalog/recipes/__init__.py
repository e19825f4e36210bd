"""The locks that engines are installed from: every package with its version and the sha256 of each of its files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

from msgspec import Struct


class Lock(Struct, frozen=True):
    """`pins` is package → version, `sha256` names this very list: an environment made from another list is rebuilt."""

    text: str
    sha256: str
    pins: Mapping[str, str]


def read_lock(name: str) -> Lock:
    return parse_lock((files(__name__) / name).read_text(encoding="utf-8"))


def parse_lock(text: str) -> Lock:
    """Reads `name==version --hash=sha256:… …`, one package a logical line, as pip does.

    Raises:
        ValueError: a package without a version or without a hash.
    """
    pins: dict[str, str] = {}
    for line in text.replace("\\\n", " ").splitlines():
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        name, _, version = words[0].partition("==")
        if not version or not any(word.startswith("--hash=sha256:") for word in words[1:]):
            raise ValueError(f"{words[0]} is not pinned with a version and a hash")
        pins[name] = version
    return lock_of(text, pins)


def lock_of(text: str, pins: Mapping[str, str]) -> Lock:
    """`text` as pip reads it, `pins` the versions in it."""
    return Lock(text, hashlib.sha256(text.encode()).hexdigest(), MappingProxyType(dict(pins)))
