"""Digests that a check of a checkpoint has computed, so that no unchanged file is read twice: `digests.jsonl`."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from moonpad.store.atomic_files import append_line, read_lines
from moonpad.store.paths import state_home

_KEY: Final = ("path", "method", "bytes", "mtime_ns")


class KeptDigests:
    """By path, size and time of change of a file. Safe to use from several threads."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or state_home() / "digests.jsonl"
        self._lock = threading.Lock()
        self._known: dict[tuple[object, ...], str] = {}
        for row in read_lines(self._file):
            if isinstance(row.get("digest"), str):
                self._known[tuple(row.get(name) for name in _KEY)] = row["digest"]

    def find(self, path: Path, method: str, at: os.stat_result) -> str | None:
        return self._known.get((str(path), method, at.st_size, at.st_mtime_ns))

    def keep(self, path: Path, method: str, at: os.stat_result, digest: str) -> None:
        """A full disk costs only the time to compute it again."""
        key = (str(path), method, at.st_size, at.st_mtime_ns)
        with self._lock, suppress(OSError):
            self._known[key] = digest
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            append_line(self._file, {**dict(zip(_KEY, key, strict=True)), "digest": digest})
