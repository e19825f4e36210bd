"""What the devices do now: power, how busy they are, memory in use; NVIDIA's, by nvidia-smi.

`power.draw` is watts, `utilization.gpu` the share of the last sample period in which a kernel ran
(https://docs.nvidia.com/deploy/nvidia-smi/).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from moonpad.facts.devices import find_tool
from moonpad.facts.nvidia import TOOL, question
from moonpad.facts.probe import Output, Unknown, run
from moonpad.values.units import MIB

FIELDS: Final = ("index", "power.draw", "utilization.gpu", "memory.used")


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """None: the device does not say it. `busy` is a share of time."""

    index: int
    power_w: float | None
    busy: float | None
    used_bytes: int | None


def device_use(timeout_s: float) -> tuple[DeviceUse, ...] | Unknown:
    tool = find_tool(TOOL)
    if tool is None:
        return Unknown(f"there is no {TOOL} here")
    output = run(question(FIELDS, tool), timeout_s)
    if not isinstance(output, Output):
        return output
    return parse_device_use(output.stdout) or Unknown(output.failure if output.returncode else f"{TOOL}: no device")


def parse_device_use(text: str) -> tuple[DeviceUse, ...]:
    """The rows that name a device."""
    rows = [[value.strip() for value in line.split(",")] for line in text.splitlines()]
    return tuple(
        DeviceUse(int(row[0]), _number(row[1]), _scaled(_number(row[2]), 0.01), _bytes(_number(row[3])))
        for row in rows
        if len(row) == len(FIELDS) and row[0].isascii() and row[0].isdigit()
    )


def _number(text: str) -> float | None:
    """What is no number is `[N/A]`, `[Unknown Error]` and the like."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _bytes(mib: float | None) -> int | None:
    return None if mib is None else round(mib * MIB)
