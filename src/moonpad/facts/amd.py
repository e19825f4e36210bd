"""AMD's devices, by amd-smi, else by the older rocm-smi.

amd-smi of ROCm 6 prints a list of devices, that of ROCm 7 an object with the list under `gpu_data`; sizes are
`{"value": 196592, "unit": "MB"}` in both, where MB means MiB, or `"N/A"`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from moonpad.facts.device import DeviceFact, DeviceFacts, DeviceUse
from moonpad.facts.probe import Unknown, number_or_none, output_of, parsed
from moonpad.values.records import replace
from moonpad.values.units import GIB, KIB, MIB

AMD_SMI: Final = "amd-smi"
ROCM_SMI: Final = "rocm-smi"
TIMEOUT_S: Final = 10.0
UNITS: Final = {"B": 1, "KB": KIB, "MB": MIB, "GB": GIB}

Table = Mapping[str, Any]


def amd_devices(tool: str = AMD_SMI, timeout_s: float = TIMEOUT_S) -> DeviceFacts | Unknown:
    """Both questions at once. What the second does not answer (memory in use, errors) is unknown by itself."""
    static = (tool, "static", "--asic", "--vram", "--driver", "--json")
    metric = (tool, "metric", "--mem-usage", "--ecc", "--json")
    with ThreadPoolExecutor(2) as pool:
        static_text, metric_text = pool.map(lambda command: output_of(command, timeout_s), (static, metric))
    facts = parsed(static_text, parse_static)
    return facts if isinstance(facts, Unknown) else join(facts, parsed(metric_text, parse_metric))


def rocm_devices(tool: str = ROCM_SMI, timeout_s: float = TIMEOUT_S) -> DeviceFacts | Unknown:
    command = (tool, "--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json")
    return parsed(output_of(command, timeout_s), parse_rocm_smi)


def amd_use(tool: str = AMD_SMI, timeout_s: float = TIMEOUT_S) -> tuple[DeviceUse, ...] | Unknown:
    command = (tool, "metric", "--power", "--usage", "--mem-usage", "--json")
    return parsed(output_of(command, timeout_s), parse_use)


def rocm_use(tool: str = ROCM_SMI, timeout_s: float = TIMEOUT_S) -> tuple[DeviceUse, ...] | Unknown:
    command = (tool, "--showpower", "--showuse", "--showmeminfo", "vram", "--json")
    return parsed(output_of(command, timeout_s), parse_rocm_use)


def parse_use(text: str) -> tuple[DeviceUse, ...]:
    """Of `amd-smi metric`; a figure is `{"value": 42, "unit": "%"}`, or "N/A". Raises ValueError without a device."""
    uses: list[DeviceUse] = []
    for index, row in _rows(text):
        used = _size(_table(row, "mem_usage").get("used_vram"))
        power_w = _number(_table(row, "power").get("socket_power"))
        percent = _number(_table(row, "usage").get("gfx_activity"))
        uses.append(DeviceUse.of(index, power_w, percent, used))
    return tuple(uses)


def parse_rocm_use(text: str) -> tuple[DeviceUse, ...]:
    """Raises ValueError without a device."""
    uses = []
    for index, card in _cards(_json(text)):
        # Which of the two names it has depends on the device: https://github.com/ROCm/rocm_smi_lib/issues/149
        powers = (_number(card.get(f"{kind} Graphics Package Power (W)")) for kind in ("Current Socket", "Average"))
        power_w = next((power_w for power_w in powers if power_w is not None), None)
        used = _count(card.get("VRAM Total Used Memory (B)"))
        uses.append(DeviceUse.of(index, power_w, _number(card.get("GPU use (%)")), used))
    return tuple(uses)


def parse_static(text: str) -> DeviceFacts:
    """Of `amd-smi static`. Raises ValueError where it names no device."""
    devices: list[DeviceFact] = []
    driver = ""
    for index, row in _rows(text):
        asic, vram = _table(row, "asic"), _table(row, "vram")
        if not (name := _text(asic.get("market_name"))):
            raise ValueError(f"{AMD_SMI} names no product")
        driver = _text(_table(row, "driver").get("version")) or driver
        size, capability = _size(vram.get("size")), _text(asic.get("target_graphics_version"))
        devices.append(DeviceFact(index, name, size, used_bytes=Unknown("not asked"), capability=capability))
    return DeviceFacts(AMD_SMI, "AMD", driver or Unknown(f"{AMD_SMI} does not report it"), tuple(devices))


def parse_metric(text: str) -> dict[int, tuple[int | Unknown, int | Unknown]]:
    """Of `amd-smi metric`: by device the bytes in use and the uncorrected errors."""
    return {
        index: (
            _size(_table(row, "mem_usage").get("used_vram")),
            _count(_table(row, "ecc").get("total_uncorrectable_count")),
        )
        for index, row in _rows(text)
    }


def join(facts: DeviceFacts, now: Mapping[int, tuple[int | Unknown, int | Unknown]] | Unknown) -> DeviceFacts:
    """What stands still and what moves, as one."""
    devices = []
    for device in facts.devices:
        nothing = Unknown(f"{AMD_SMI} metric does not name the device")
        used, errors = (now, now) if isinstance(now, Unknown) else now.get(device.index, (nothing, nothing))
        devices.append(replace(device, used_bytes=used, ecc_errors=errors))
    return replace(facts, devices=tuple(devices))


def parse_rocm_smi(text: str) -> DeviceFacts:
    """Raises ValueError where it names no device."""
    document = _json(text)
    devices: list[DeviceFact] = []
    for index, card in _cards(document):
        # ROCm 6 writes the former, ROCm 5 the latter.
        if not (name := _text(card.get("Card Series")) or _text(card.get("Card series"))):
            raise ValueError(f"{ROCM_SMI} names no product of card{index}")
        size, used = (_count(card.get(f"VRAM Total {what}Memory (B)")) for what in ("", "Used "))
        devices.append(DeviceFact(index, name, size, used, capability=_text(card.get("GFX Version"))))
    driver = _text(_table(document, "system").get("Driver version")) or Unknown(f"{ROCM_SMI} does not report it")
    return DeviceFacts(ROCM_SMI, "AMD", driver, tuple(devices))


def _cards(document: Table) -> list[tuple[int, Table]]:
    """The devices of rocm-smi, `card0` and so on, by number. Raises ValueError where there is none."""
    numbered = ((key.removeprefix("card"), card) for key, card in document.items() if key.startswith("card"))
    cards = {int(number): card for number, card in numbered if number.isdigit() and isinstance(card, dict)}
    if not cards:
        raise ValueError(f"{ROCM_SMI} names no device")
    return sorted(cards.items())


def _rows(text: str) -> list[tuple[int, Table]]:
    """The devices of amd-smi, each with its index. Raises ValueError where there is none."""
    rows = _json(text).get("gpu_data")
    if not isinstance(rows, list) or not rows:
        raise ValueError(f"{AMD_SMI} names no device")
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{AMD_SMI} prints a device that is not an object")
    return [(row["gpu"] if type(row.get("gpu")) is int else number, row) for number, row in enumerate(rows)]


def _json(text: str) -> dict[str, Any]:
    """A list is given as the object that newer versions print. Warnings may stand before the JSON."""
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=0)
    try:
        document = json.loads(text[start:])
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if isinstance(document, list):
        return {"gpu_data": document}
    if not isinstance(document, dict):
        raise ValueError("not a JSON object")
    return document


def _table(row: Table, key: str) -> Table:
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    """ "" where the tool does not report it."""
    return value if isinstance(value, str) and value != "N/A" else ""


def _size(value: object) -> int | Unknown:
    """`{"value": 196592, "unit": "MB"}`, or in some versions the number alone, in MB."""
    number, unit = (value.get("value"), value.get("unit")) if isinstance(value, dict) else (value, "MB")
    count = _count(number)
    if isinstance(count, Unknown) or not isinstance(unit, str) or unit.upper() not in UNITS:
        return Unknown(f"{AMD_SMI} reports {str(value)[:40]}")
    return count * UNITS[unit.upper()]


def _number(value: object) -> float | None:
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return number_or_none(str(value))


def _count(value: object) -> int | Unknown:
    if type(value) is int and value >= 0:
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return Unknown(f"the tool reports {str(value)[:40]}")
