"""The release of the engine that a process of this host runs, for `moonpad explain --pid`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from packaging.version import InvalidVersion, Version

from moonpad.engines import ENGINES

_LOADED: Final = re.compile(r"(/\S*/(?:site|dist)-packages)/")
_MOST_BYTES: Final = 4_000_000


def running_release(pid: int, engines: Collection[str]) -> str:
    """The release of the one engine that is started, where the process has loaded its libraries; no local part of it.

    "" where the process may not be looked at, where no package or several releases lie there, and for a build between
    releases: its number (0.1.dev1) says nothing of what it holds.
    """
    engine = ENGINES.get(next(iter(engines))) if len(engines) == 1 else None
    if engine is None or not engine.packages:
        return ""
    folders = _package_folders(pid)
    if any(True for folder in folders for _ in _installed(folder, engine.extended_by)):
        return ""
    found = {release for folder in folders for release in _installed(folder, engine.packages)}
    return found.pop() if len(found) == 1 else ""


def _package_folders(pid: int) -> tuple[Path, ...]:
    """As this host sees them: a container's files lie below its own root."""
    try:
        with Path(f"/proc/{pid}/maps").open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ()
    return tuple(Path(f"/proc/{pid}/root{folder}") for folder in dict.fromkeys(_LOADED.findall(text)))


def _installed(folder: Path, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        try:
            written = [path.name for path in folder.glob(f"{name}-*.dist-info")]
        except OSError:
            return
        for text in written:
            try:
                version = Version(text.removeprefix(f"{name}-").removesuffix(".dist-info"))
            except InvalidVersion:
                continue
            yield "" if version.is_devrelease else version.public
