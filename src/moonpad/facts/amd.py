"""AMD's devices, by amd-smi, else by the older rocm-smi.

amd-smi of ROCm 6 prints a list of devices, that of ROCm 7 an object with the list under `gpu_data`; sizes are
`{"value": 196592, "unit": "MB"}` in both, where MB means MiB, or `"N/A"`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final, TypeVar

from moonpad.facts.device import DeviceFact, DeviceFacts, DeviceUse
from moonpad.facts.probe import Fact, Unknown, number_or_none
from moonpad.values.units import GIB, KIB, MIB

AMD_SMI: Final = "amd-smi"
ROCM_SMI: Final = "rocm-smi"
TIMEOUT_S: Final = 10.0
UNITS: Final = {"B": 1, "KB": KIB, "MB": MIB, "GB": GIB}

Table = Mapping[str, Any]
T = TypeVar("T")


def amd_devices(tool: str = AMD_SMI, timeout_s: float = TIMEOUT_S) -> DeviceFacts | Unknown:
    """Both questions at once. What the second does not answer (memory in use, errors) is unknown by itself."""
    static_probe = Fact((tool, "static", "--asic", "--vram", "--driver", "--json"), parse_static, timeout_s)
    metric_probe = Fact((tool, "metric", "--mem-usage", "--ecc", "--json"), parse_metric, timeout_s)
    with ThreadPoolExecutor(2) as pool:
        static_facts, now = pool.map(lambda probe: probe.ask(), (static_probe, metric_probe))
    if isinstance(static_facts, Unknown):
        return static_facts
    return join(static_facts, now)


def rocm_devices(tool: str = ROCM_SMI, timeout_s: float = TIMEOUT_S) -> DeviceFacts | Unknown:
    command = (tool, "--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json")
    return Fact(command, parse_rocm_smi, timeout_s).ask()


def amd_use(tool: str = AMD_SMI, timeout_s: float = TIMEOUT_S) -> tuple[DeviceUse, ...] | Unknown:
    command = (tool, "metric", "--power", "--usage", "--mem-usage", "--json")
    return Fact(command, parse_use, timeout_s).ask()


def rocm_use(tool: str = ROCM_SMI, timeout_s: float = TIMEOUT_S) -> tuple[DeviceUse, ...] | Unknown:
    command = (tool, "--showpower", "--showuse", "--showmeminfo", "vram", "--json")
    return Fact(command, parse_rocm_use, timeout_s).ask()


def parse_use(text: str) -> tuple[DeviceUse, ...]:
    """Of `amd-smi metric`; a figure is `{"value": 42, "unit": "%"}`, or "N/A". Raises ValueError without a device."""
    uses: list[DeviceUse] = []
    for row in _rows(text):
        used = _size(_table(row, "mem_usage").get("used_vram"))
        power_w = _number(_table(row, "power").get("socket_power"))
        percent = _number(_table(row, "usage").get("gfx_activity"))
        uses.append(DeviceUse.of(_index(row, len(uses)), power_w, percent, used))
    return tuple(_some(uses, AMD_SMI))


def parse_rocm_use(text: str) -> tuple[DeviceUse, ...]:
    """Raises ValueError without a device."""
    uses = []
    for index, card in _cards(_json(text)):
        # Which of the two names it has depends on the device: https://github.com/ROCm/rocm_smi_lib/issues/149
        powers = (_number(card.get(f"{kind} Graphics Package Power (W)")) for kind in ("Current Socket", "Average"))
        power_w = next((power_w for power_w in powers if power_w is not None), None)
        used = _count(card.get("VRAM Total Used Memory (B)"))
        uses.append(DeviceUse.of(index, power_w, _number(card.get("GPU use (%)")), used))
    return tuple(_some(uses, ROCM_SMI))


def parse_static(text: str) -> DeviceFacts:
    """Of `amd-smi static`. Raises ValueError where it names no device."""
    devices: list[DeviceFact] = []
    driver: str | Unknown = Unknown(f"{AMD_SMI} does not say it")
    for row in _rows(text):
        asic, vram = _table(row, "asic"), _table(row, "vram")
        name = asic.get("market_name")
        if not isinstance(name, str) or name == "N/A":
            raise ValueError(f"{AMD_SMI} names no product")
        version = _table(row, "driver").get("version")
        if isinstance(version, str) and version != "N/A":
            driver = version
        capability = asic.get("target_graphics_version")
        devices.append(
            DeviceFact(
                index=_index(row, len(devices)),
                name=name,
                memory_bytes=_size(vram.get("size")),
                used_bytes=Unknown("not asked"),
                capability=capability if isinstance(capability, str) and capability != "N/A" else "",
            )
        )
    return DeviceFacts(AMD_SMI, "AMD", driver, tuple(_some(devices, AMD_SMI)))


def parse_metric(text: str) -> dict[int, tuple[int | Unknown, int | Unknown]]:
    """Of `amd-smi metric`: by device the bytes in use and the uncorrected errors."""
    figures: dict[int, tuple[int | Unknown, int | Unknown]] = {}
    for row in _rows(text):
        errors = _table(row, "ecc").get("total_uncorrectable_count")
        used = _size(_table(row, "mem_usage").get("used_vram"))
        figures[_index(row, len(figures))] = used, _count(errors)
    return figures


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
        name = card.get("Card Series") or card.get("Card series")  # ROCm 6 writes the former, ROCm 5 the latter
        if not isinstance(name, str):
            raise ValueError(f"{ROCM_SMI} names no product of card{index}")
        capability = card.get("GFX Version")
        devices.append(
            DeviceFact(
                index=index,
                name=name,
                memory_bytes=_count(card.get("VRAM Total Memory (B)")),
                used_bytes=_count(card.get("VRAM Total Used Memory (B)")),
                capability=capability if isinstance(capability, str) else "",
            )
        )
    version = _table(document, "system").get("Driver version")
    driver = version if isinstance(version, str) else Unknown(f"{ROCM_SMI} does not say it")
    return DeviceFacts(ROCM_SMI, "AMD", driver, tuple(_some(devices, ROCM_SMI)))


def _cards(document: Mapping[str, Any]) -> list[tuple[int, Table]]:
    """The devices of rocm-smi, `card0` and so on, by number."""
    cards = [(key.removeprefix("card"), card) for key, card in document.items() if key.startswith("card")]
    return sorted(
        ((int(number), card) for number, card in cards if number.isdigit() and isinstance(card, dict)),
        key=lambda pair: pair[0],
    )


def _some(devices: Sequence[T], tool: str) -> Sequence[T]:
    if not devices:
        raise ValueError(f"{tool} names no device")
    return devices


def _rows(text: str) -> Iterator[Table]:
    document = _json(text)
    rows = document.get("gpu_data")
    if not isinstance(rows, list):
        raise ValueError(f"{AMD_SMI} prints no list of devices")
    for row in rows:
        if not isinstance(row, dict):
            raise ValueError(f"{AMD_SMI} prints a device that is not an object")
        yield row


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


def _index(row: Table, otherwise: int) -> int:
    value = row.get("gpu")
    return value if type(value) is int else otherwise


def _size(value: object) -> int | Unknown:
    """`{"value": 196592, "unit": "MB"}`, or in some versions the number alone, in MB."""
    number, unit = (value.get("value"), value.get("unit")) if isinstance(value, dict) else (value, "MB")
    count = _count(number)
    if isinstance(count, Unknown) or not isinstance(unit, str) or unit.upper() not in UNITS:
        return Unknown(f"{AMD_SMI} says {str(value)[:40]}")
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
    return Unknown(f"the tool says {str(value)[:40]}")
