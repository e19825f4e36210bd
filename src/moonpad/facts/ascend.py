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


def ascend_use(tool: str = TOOL, timeout_s: float = TIMEOUT_S) -> tuple[DeviceUse, ...] | Unknown:
    return parsed(output_of((tool, "info"), timeout_s), parse_use)


def parse_npu_smi(text: str) -> DeviceFacts:
    """Raises ValueError where the table names no device, with what stands there instead."""
    versions = [match["version"] for line in text.splitlines() if (match := _VERSION.match(line))]
    driver = versions[-1] if versions else Unknown(f"{TOOL} does not report it")
    devices = (
        DeviceFact(
            index=index,
            name=first["name"],
            memory_bytes=total,
            used_bytes=used,
            # OK, Warning, Alarm, Critical, UNKNOWN: Huawei's reference of npu-smi.
            health="" if first["health"] == "OK" else first["health"],
            package=int(first["npu"]) if second["physical"] is not None else None,
        )
        for index, first, second, used, total in _rows(text)
    )
    return DeviceFacts(TOOL, "Huawei", driver, tuple(devices))


def parse_use(text: str) -> tuple[DeviceUse, ...]:
    """As `parse_npu_smi`. Of a package of two chips the first one's line has the power of both."""
    uses = []
    for index, first, second, used, _ in _rows(text):
        words = ((line.string[line.end() :].split() or [""])[0] for line in (first, second))
        power_w, percent = map(number_or_none, words)
        uses.append(DeviceUse.of(index, power_w, percent, used))
    return tuple(uses)


def _rows(text: str) -> list[tuple[int, re.Match[str], re.Match[str], int | Unknown, int | Unknown]]:
    """Of each device its index, its two lines, and its used and total bytes, which the last column has in MiB."""
    rows = []
    first: re.Match[str] | None = None
    for line in text.splitlines():
        if second := _SECOND.match(line):
            if first is not None:
                index = int(first["npu"] if second["physical"] is None else second["physical"])
                used, total = (_PAIR.findall(line) or [("", "")])[-1]
                rows.append((index, first, second, _mebibytes(used), _mebibytes(total)))
            first = None
        elif match := _FIRST.match(line):
            first = match
    if not rows:
        raise ValueError(f"{TOOL}: {(text.strip() or 'no output').splitlines()[0]}")
    return rows


def _mebibytes(value: str) -> int | Unknown:
    return int(value) * MIB if value.isdigit() else Unknown(f"{TOOL} reports {value or 'nothing'}")
