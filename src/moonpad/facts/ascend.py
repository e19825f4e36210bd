"""Huawei's devices, by the table of `npu-smi info`; it has no other form that names them all at once.

Each device takes two lines. On an Atlas 800 A3 one NPU has two chips, and the second number of the second line is the
number that engines count by (Phy-ID); on an A2 there is none, and the NPU's own number counts. The table of processes
behind it looks alike, but has neither a product's name nor the address of a bus.
"""

from __future__ import annotations

import re
from typing import Final

from moonpad.facts.device import DeviceFact, DeviceFacts
from moonpad.facts.probe import Probe, Unknown
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
    return Probe((tool, "info"), parse_npu_smi, timeout_s).ask()


def parse_npu_smi(text: str) -> DeviceFacts:
    """Raises ValueError where the table names no device, with what stands there instead."""
    devices: list[DeviceFact] = []
    driver: str | Unknown = Unknown(f"{TOOL} does not say it")
    first: re.Match[str] | None = None
    for line in text.splitlines():
        if version := _VERSION.match(line):
            driver = version["version"]
        elif second := _SECOND.match(line):
            if first is not None:
                devices.append(_device(first, second, line))
            first = None
        elif found := _FIRST.match(line):
            first = found
    if not devices:
        raise ValueError(f"{TOOL}: {(text.strip() or 'no output').splitlines()[0]}")
    return DeviceFacts(TOOL, "Huawei", driver, tuple(devices))


def _device(first: re.Match[str], second: re.Match[str], line: str) -> DeviceFact:
    npu = int(first["npu"])
    pairs = list(_PAIR.finditer(line))
    used, total = (pairs[-1]["used"], pairs[-1]["total"]) if pairs else ("", "")
    return DeviceFact(
        index=npu if second["physical"] is None else int(second["physical"]),
        name=first["name"],
        memory_bytes=_mebibytes(total),
        used_bytes=_mebibytes(used),
        # OK, Warning, Alarm, Critical, UNKNOWN: Huawei's reference of npu-smi.
        health="" if first["health"] == "OK" else first["health"],
        package=npu if second["physical"] is not None else None,
    )


def _mebibytes(value: str) -> int | Unknown:
    return int(value) * MIB if value.isdigit() else Unknown(f"{TOOL} says {value or 'nothing'}")
