"""What this user's own loads corrected of the constants of speed: one line for each calibration, the newest counts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from moonpad.catalog.step_constants import Corrections
from moonpad.predict.calibrate import StepCalibration
from moonpad.store.atomic_files import append_line, read_lines
from moonpad.store.paths import state_home
from moonpad.values.configuration import Configuration
from moonpad.values.platform import Platform
from moonpad.values.records import as_dict

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class SpeedCalibration:
    """For one kind of device, engine, release and weights; on processors for so many cores of a machine.

    `points`: the loads, as they were measured, with what was predicted before and after. `source`: in words.
    """

    device: str
    engine: str
    engine_version: str
    scheme: str
    cores: int | None
    corrections: Corrections
    source: str
    checked: str
    model: str = ""
    points: tuple[dict[str, Any], ...] = ()

    def is_for(self, configuration: Configuration) -> bool:
        return key_of(configuration) == (self.device, self.engine, self.engine_version, self.scheme, self.cores)


def key_of(configuration: Configuration) -> tuple[str, str, str, str, int | None]:
    cores = configuration.cluster.host.cores if configuration.platform is Platform.CPU else None
    return configuration.device.id, configuration.engine.name, configuration.version, configuration.scheme, cores


def speed_calibrations_path() -> Path:
    return state_home() / "speed-calibrations.jsonl"


def keep_speed_calibration(calibration: SpeedCalibration) -> None:
    """Appends it. Raises OSError where it cannot be written."""
    path = speed_calibrations_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    append_line(path, {"schema": SCHEMA, **as_dict(calibration)})


def own_speed_calibrations() -> tuple[SpeedCalibration, ...]:
    """The user's own, oldest first. Lines of another schema, or torn ones, are skipped."""
    rows = []
    for record in read_lines(speed_calibrations_path()):
        if record.pop("schema", None) == SCHEMA:
            with suppress(msgspec.ValidationError):
                rows.append(msgspec.convert(record, SpeedCalibration))
    return tuple(rows)


def calibration_for(configuration: Configuration, calibrations: Sequence[SpeedCalibration]) -> StepCalibration | None:
    """The newest that is for it; None without one."""
    for own in reversed(calibrations):
        if own.is_for(configuration):
            return StepCalibration(own.corrections, source=own.source)
    return None
