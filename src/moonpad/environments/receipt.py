"""What says that an environment is finished: one JSON file, written last and by rename."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from moonpad.environments.places import Place

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Receipt:
    """`witnesses` are files, relative to the environment, that are there as long as the engine is."""

    name: str
    version: str
    command: str
    python: str
    lock_sha256: str
    size_bytes: int
    seconds: float
    installed_at: str
    packages: Mapping[str, str]
    witnesses: tuple[str, ...]
    schema: int = SCHEMA


def write_receipt(place: Place, receipt: Receipt) -> None:
    part = place.receipt.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(asdict(receipt), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    part.replace(place.receipt)


def read_receipt(path: Path) -> Receipt | None:
    """None where there is none, or what stands there is no receipt of this schema."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        receipt = Receipt(**{**found, "witnesses": tuple(found["witnesses"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return receipt if receipt.schema == SCHEMA and _typed(receipt) else None


def good_receipt(place: Place, lock_sha256: str | None = None) -> Receipt | None:
    """The receipt of a finished environment whose parts are there; of that very lock where one is named.

    A few stat calls: no process is started and no engine imported.
    """
    receipt = read_receipt(place.receipt)
    if receipt is None or (lock_sha256 is not None and receipt.lock_sha256 != lock_sha256):
        return None
    # bin/python is a link: it dangles after the system's Python was replaced by the next minor version.
    runs = all(os.access(path, os.X_OK) for path in (place.python, place.program(receipt.command)))
    return receipt if runs and all((place.folder / path).is_file() for path in receipt.witnesses) else None


def _typed(receipt: Receipt) -> bool:
    texts = (receipt.name, receipt.version, receipt.command, receipt.lock_sha256, receipt.installed_at)
    return (
        all(isinstance(text, str) for text in (*texts, *receipt.witnesses))
        and isinstance(receipt.size_bytes, int)
        and isinstance(receipt.packages, dict)
    )
