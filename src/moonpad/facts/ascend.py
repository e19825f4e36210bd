"""Huawei's devices, by the table of `npu-smi info`; it has no other form that names them all at once.

Each device takes two lines. On an Atlas 800 A3 one NPU has two chips, and the second number of the second line is the
number that engines count by (Phy-ID); on an A2 there is none, and the NPU's own number counts. The table of processes
behind it looks alike, but has neither a product's name nor the address of a bus.
"""

from __future__ import annotations

import re
from typing import Final

from moonpad.facts.device import DeviceFact, DeviceFacts, DeviceUse
from moonpad.facts.probe import Unknown, number_or_none, output_of, parsed
from moonpad.values.units import MIB

TOOL: Final = "npu-smi"
TIMEOUT_S: Final = 10.0

_VERSION: Final = re.compile(r"\|\s*npu-smi\s+\S+\s+Version:\s*(?P<version>\S+)")
_FIRST: Final = re.compile(r"\|\s*(?P<npu>\d+)\s+(?P<name>\w*[A-Za-z]\S*)\s*\|\s*(?P<health>\S+)\s*\|")
_SECOND: Final = re.compile(
    r"\|\s*(?P<chip>\d+)(?:\s+(?P<physical>\d+))?\s*\|\s*(?:[0-9A-Fa-f]{4}:[0-9A-Fa-f:.]+|NA)\s*\|"
)
_PAIR: Final = re.compile(r"(?P<used>\d+|-|NA)\s*/\s*(?P<total>\d+|-|NA)")


def ascend_devices(tool: str = TOOL, timeout_s: float = TIMEOUT_S) -> DeviceFacts | Unknown:
    return parsed(output_of((tool, "info"), timeout_s), parse_npu_smi)


def parse_npu_smi(text: str) -> DeviceFacts:
    """Raises ValueError where the table names no device, with what stands there instead."""
    versions = [match["version"] for line in text.splitlines() if (match := _VERSION.match(line))]
    driver = versions[-1] if versions else Unknown(f"{TOOL} does not say it")
    return DeviceFacts(TOOL, "Huawei", driver, tuple(_device(*lines) for lines in _devices(text)))


def ascend_use(tool: str = TOOL, timeout_s: float = TIMEOUT_S) -> tuple[DeviceUse, ...] | Unknown:
    return parsed(output_of((tool, "info"), timeout_s), parse_use)


def parse_use(text: str) -> tuple[DeviceUse, ...]:
    """As `parse_npu_smi`. Of a package of two chips the first one's line has the power of both."""
    return tuple(_use(*lines) for lines in _devices(text))


Lines = tuple[re.Match[str], re.Match[str]]
"""A device's two."""


def _devices(text: str) -> list[Lines]:
    devices: list[Lines] = []
    first: re.Match[str] | None = None
    for line in text.splitlines():
        if second := _SECOND.match(line):
            if first is not None:
                devices.append((first, second))
            first = None
        elif match := _FIRST.match(line):
            first = match
    if not devices:
        raise ValueError(f"{TOOL}: {(text.strip() or 'no output').splitlines()[0]}")
    return devices


def _index(first: re.Match[str], second: re.Match[str]) -> int:
    return int(first["npu"] if second["physical"] is None else second["physical"])


def _memory(second: re.Match[str]) -> tuple[str, str]:
    """Used and total, in MiB, as the last column says them."""
    pairs = list(_PAIR.finditer(second.string))
    return (pairs[-1]["used"], pairs[-1]["total"]) if pairs else ("", "")


def _use(first: re.Match[str], second: re.Match[str]) -> DeviceUse:
    power, percent = (
        number_or_none((lines.string[lines.end() :].split() or [""])[0]) for lines in (first, second)
    )  # fmt: skip
    return DeviceUse.of(_index(first, second), power, percent, _mebibytes(_memory(second)[0]))


def _device(first: re.Match[str], second: re.Match[str]) -> DeviceFact:
    npu = int(first["npu"])
    used, total = _memory(second)
    return DeviceFact(
        index=_index(first, second),
        name=first["name"],
        memory_bytes=_mebibytes(total),
        used_bytes=_mebibytes(used),
        # OK, Warning, Alarm, Critical, UNKNOWN: Huawei's reference of npu-smi.
        health="" if first["health"] == "OK" else first["health"],
        package=npu if second["physical"] is not None else None,
    )


def _mebibytes(value: str) -> int | Unknown:
    return int(value) * MIB if value.isdigit() else Unknown(f"{TOOL} says {value or 'nothing'}")
