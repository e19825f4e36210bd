"""Two ways to write, and no third: append a line, or replace a file by rename."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def replace_text(path: Path, text: str, mode: int = 0o600) -> None:
    """The old file or the new one, never half of it. The parent folder is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, part = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(part).chmod(mode)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def replace_json(path: Path, document: object, mode: int = 0o600) -> None:
    replace_text(path, json.dumps(document, indent=1, default=str) + "\n", mode)


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in the file; None where there is no file or what stands there is no JSON object."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def append_line(path: Path, record: Mapping[str, object]) -> None:
    """One JSON line in one write, so that several processes may append to one file."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, json.dumps(record, default=str).encode() + b"\n")
    finally:
        os.close(handle)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Every whole line. A torn one (the disk was full, the machine lost power) is left out."""
    try:
        text = path.read_bytes()
    except OSError:
        return
    for line in text.split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record
