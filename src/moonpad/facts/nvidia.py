"""NVIDIA's devices, by nvidia-smi.

Where one GPU has fallen off the bus, nvidia-smi prints a sentence and a row of `[Unknown Error]` in its place, goes on
with the others, and ends with an error: the rows count whatever the exit code says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from moonpad.facts.device import DeviceFact, DeviceFacts, DeviceUse
from moonpad.facts.probe import Output, Unknown, number_or_none, run
from moonpad.values.records import replace
from moonpad.values.units import MIB

TOOL: Final = "nvidia-smi"
TIMEOUT_S: Final = 10.0
AGAIN_S: Final = 3.0
"""For a second question, which is asked only after a quick answer to the first."""

BASIC: Final = ("index", "name", "uuid", "memory.total", "memory.used", "driver_version")
FIELDS: Final = (*BASIC, "mig.mode.current", "compute_cap", "ecc.errors.uncorrected.volatile.total")
"""Drivers before 510 do not know `compute_cap`, and then refuse the whole question."""

USE: Final = (
    "index", "power.draw", "utilization.gpu", "memory.used", "temperature.gpu", "clocks_throttle_reasons.active",
)  # fmt: skip
"""Since driver 535 `clocks_throttle_reasons` is also called `clocks_event_reasons`."""

TROUBLE: Final = {
    0x08: "hardware slowdown (too hot, or too much power)",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "the power brake of the machine",
}
THROTTLED: Final = {0x04: "its power limit", **TROUBLE}
"""By the bits of `clocks_throttle_reasons.active`, which NVML names nvmlClocksEventReason…
(https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html). Idleness and the
user's settings are left out. At full work a device may well be at its power limit; the others are trouble."""

_NOT_SAID: Final = re.compile(r"\[(N/A|Not Supported|Insufficient Permissions|Not Found)\]|N/A|", re.IGNORECASE)
_BROKEN: Final = re.compile(r"\[?(Unknown Error|GPU is lost|GPU requires reset|ERR!)\]?", re.IGNORECASE)
_MASK: Final = re.compile(r"0x[0-9a-fA-F]{1,16}")
_LOST: Final = re.compile(r"Unable to determine the device handle for .{1,120}", re.IGNORECASE)


def question(fields: tuple[str, ...] = FIELDS, tool: str = TOOL) -> tuple[str, ...]:
    return (tool, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits")


def nvidia_devices(tool: str = TOOL, timeout_s: float = TIMEOUT_S) -> DeviceFacts | Unknown:
    """`tool` is a path to nvidia-smi."""
    output = run(question(tool=tool), timeout_s)
    fields: tuple[str, ...] = FIELDS
    if _does_not_know(output):
        fields = BASIC
        output = run(question(fields, tool), AGAIN_S)
    if isinstance(output, Unknown):
        return output
    try:
        return parse_nvidia_smi(output.stdout, fields)
    except ValueError as error:
        return Unknown(output.failure if output.returncode else f"{TOOL}: {error}")


def _does_not_know(output: Output | Unknown) -> bool:
    return isinstance(output, Output) and "not a valid field" in output.stdout + output.stderr


def parse_nvidia_smi(text: str, fields: tuple[str, ...] = FIELDS) -> DeviceFacts:
    """Raises ValueError where the text names no device, with what it says instead."""
    devices: list[DeviceFact] = []
    lost: list[str] = []
    drivers: list[str] = []
    for line in text.splitlines():
        values = [value.strip() for value in line.split(",")]
        if match := _LOST.search(line):
            lost.append(match[0])
        elif len(values) == len(fields) and values[0].isdigit():
            row = dict(zip(fields, values, strict=True))
            devices.append(_device(row))
            drivers.append(row["driver_version"])
    if not devices and not lost:
        raise ValueError((text.strip() or "no output").splitlines()[0])
    versions = [version for version in drivers if not _unsaid(version)]
    driver = versions[0] if versions else Unknown(f"{TOOL} does not report it")
    return DeviceFacts(TOOL, "NVIDIA", driver, tuple(devices), tuple(lost))


def nvidia_use(tool: str, timeout_s: float) -> tuple[DeviceUse, ...] | Unknown:
    """`power.draw` is in watts, `utilization.gpu` the share of the last sample period in which a kernel ran
    (https://docs.nvidia.com/deploy/nvidia-smi/)."""
    output = run(question(USE, tool), timeout_s)
    if _does_not_know(output):
        output = run(question(USE[:-1], tool), timeout_s)
    if isinstance(output, Unknown):
        return output
    return parse_use(output.stdout) or Unknown(output.failure if output.returncode else f"{TOOL}: no device")


def parse_use(text: str) -> tuple[DeviceUse, ...]:
    """The rows that name a device."""
    uses = []
    for line in text.splitlines():
        index, *values = (value.strip() for value in line.split(","))
        if len(values) in (3, 4, len(USE) - 1) and index.isascii() and index.isdigit():
            power_w, percent, mib, *heat = map(number_or_none, values[:4])
            use = DeviceUse.of(int(index), power_w, percent, None if mib is None else mib * MIB)
            reasons = throttle_reasons(values[4]) if len(values) > 4 else None
            uses.append(replace(use, temperature_c=heat[0] if heat else None, throttled_by=reasons))
    return tuple(uses)


def throttle_reasons(mask: str) -> tuple[str, ...] | None:
    """What holds the clocks back, from `clocks_throttle_reasons.active`; None where the driver does not say it."""
    if not _MASK.fullmatch(mask):
        return None
    return tuple(words for bit, words in THROTTLED.items() if int(mask, 16) & bit)


def _device(row: Mapping[str, str]) -> DeviceFact:
    broken = [value for value in row.values() if _BROKEN.fullmatch(value)]
    mig = row.get("mig.mode.current", "")
    return DeviceFact(
        index=int(row["index"]),
        name=row["name"],
        memory_bytes=_number(row["memory.total"], MIB),
        used_bytes=_number(row["memory.used"], MIB),
        uuid="" if _unsaid(row["uuid"]) else row["uuid"],
        # Where a GPU has no MIG at all, `[N/A]` stands there.
        mig=Unknown(mig) if _BROKEN.fullmatch(mig) else mig.casefold() == "enabled",
        ecc_errors=_number(row.get("ecc.errors.uncorrected.volatile.total", "[N/A]"), 1),
        health=broken[0].strip("[]") if broken else "",
        capability="" if _unsaid(row.get("compute_cap", "")) else row["compute_cap"],
    )


def _number(value: str, unit: int) -> int | Unknown:
    return int(value) * unit if value.isascii() and value.isdigit() else Unknown(f"{TOOL} reports {value or 'nothing'}")


def _unsaid(value: str) -> bool:
    return bool(_NOT_SAID.fullmatch(value) or _BROKEN.fullmatch(value))
