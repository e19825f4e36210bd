"""The measured starts of this user: one line for each start whose engine said how large its KV cache is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from moonpad.catalog.calibrations import Calibration
from moonpad.store.atomic_files import append_line, read_lines
from moonpad.store.paths import state_home
from moonpad.values.records import as_dict

SCHEMA: Final = 1


def calibrations_path() -> Path:
    return state_home() / "calibrations.jsonl"


def keep_calibration(calibration: Calibration, planned_kv_tokens: float | None) -> bool:
    """Appends it, with the planned figure beside the measured one. False: one of that id is there already."""
    if any(own.id == calibration.id for own in own_calibrations()):
        return False
    record = {"schema": SCHEMA, **as_dict(calibration), "planned_kv_tokens": planned_kv_tokens}
    path = calibrations_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    append_line(path, record)
    return True


def own_calibrations() -> tuple[Calibration, ...]:
    """The user's own, oldest first. Lines of another schema, or torn ones, are skipped."""
    rows = []
    for record in read_lines(calibrations_path()):
        if record.get("schema") == SCHEMA:
            with suppress(msgspec.ValidationError):
                rows.append(msgspec.convert(record, Calibration))
    return tuple(rows)
