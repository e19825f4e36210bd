"""Free space where something is going to be written, also while the folder does not exist yet."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from moonpad.facts.probe import Unknown


@dataclass(frozen=True, slots=True)
class Disk:
    """The filesystem below a path. `device` is equal for two paths on the same one."""

    device: int
    free_bytes: int


def disk(path: Path) -> Disk | Unknown:
    """Of `path`, or of its nearest parent that exists. Free is what an ordinary user may still write."""
    try:
        nearest = next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())
        return Disk(nearest.stat().st_dev, shutil.disk_usage(nearest).free)
    except (OSError, StopIteration) as error:
        return Unknown(f"{path}: {error}")
