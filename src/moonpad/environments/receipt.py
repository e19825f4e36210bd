"""Marks an environment as finished: one JSON file, written last and by rename."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from moonpad.environments.paths import EnvironmentFolder
from moonpad.spec.input_file import read_regular

SCHEMA = 1
RECEIPT_BYTES = 1_000_000


class Receipt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`witnesses` are files, relative to the environment, that are there as long as the engine is."""

    name: str
    version: str
    command: str
    python: str
    lock_sha256: str
    size_bytes: int
    seconds: float
    installed_at: str
    packages: dict[str, str]
    witnesses: tuple[str, ...]
    schema: int = SCHEMA


def write_receipt(place: EnvironmentFolder, receipt: Receipt) -> None:
    part = place.receipt.with_suffix(".part")
    with part.open("wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(receipt), indent=1))
        file.flush()
        os.fsync(file.fileno())
    part.replace(place.receipt)


def read_receipt(path: Path) -> Receipt | None:
    """None where there is no file, or it is not a receipt of this schema."""
    try:
        receipt = msgspec.json.decode(read_regular(path, RECEIPT_BYTES), type=Receipt)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return receipt if receipt.schema == SCHEMA else None


def good_receipt(place: EnvironmentFolder, lock_sha256: str | None = None) -> Receipt | None:
    """The receipt of a finished environment whose parts are there; of that lock where one is named.

    A few stat calls: no process is started and no engine imported.
    """
    receipt = read_receipt(place.receipt)
    if receipt is None or (lock_sha256 is not None and receipt.lock_sha256 != lock_sha256):
        return None
    # bin/python is a link: it dangles after the system's Python was replaced by the next minor version.
    runs = all(os.access(path, os.X_OK) for path in (place.python, place.program(receipt.command)))
    parts = ("pyvenv.cfg", *receipt.witnesses)
    return receipt if runs and all((place.folder / path).is_file() for path in parts) else None
