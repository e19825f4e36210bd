"""What the devices do now: power, how busy they are, memory in use; asked of the tool of their driver.

nvidia-smi: `power.draw` is watts, `utilization.gpu` the share of the last sample period in which a kernel ran
(https://docs.nvidia.com/deploy/nvidia-smi/). amd-smi: `socket_power` and `gfx_activity`; npu-smi: Power and AICore.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from moonpad.facts import amd, ascend, nvidia
from moonpad.facts.device import DeviceUse
from moonpad.facts.devices import find_tool
from moonpad.facts.probe import Output, Unknown, number_or_none, run
from moonpad.values.units import MIB

FIELDS: Final = ("index", "power.draw", "utilization.gpu", "memory.used")


def device_use(timeout_s: float) -> tuple[DeviceUse, ...] | Unknown:
    """By the first of the tools that are here and answer; else why none does."""
    why = []
    for name, ask in ASK.items():
        if (tool := find_tool(name)) is None:
            continue
        found = ask(tool, timeout_s)
        if not isinstance(found, Unknown):
            return found
        why.append(found.reason)
    return Unknown("; ".join(why) or f"none of {', '.join(ASK)} is here")


def nvidia_use(tool: str, timeout_s: float) -> tuple[DeviceUse, ...] | Unknown:
    output = run(nvidia.question(FIELDS, tool), timeout_s)
    if not isinstance(output, Output):
        return output
    return parse_nvidia_use(output.stdout) or Unknown(
        output.failure if output.returncode else f"{nvidia.TOOL}: no device"
    )


def parse_nvidia_use(text: str) -> tuple[DeviceUse, ...]:
    """The rows that name a device."""
    rows = [[value.strip() for value in line.split(",")] for line in text.splitlines()]
    return tuple(
        DeviceUse(int(row[0]), number_or_none(row[1]), _share(row[2]), _bytes(row[3]))
        for row in rows
        if len(row) == len(FIELDS) and row[0].isascii() and row[0].isdigit()
    )


def _share(percent: str) -> float | None:
    value = number_or_none(percent)
    return None if value is None else value / 100


def _bytes(mib: str) -> int | None:
    value = number_or_none(mib)
    return None if value is None else round(value * MIB)


ASK: Final[Mapping[str, Callable[[str, float], tuple[DeviceUse, ...] | Unknown]]] = {
    nvidia.TOOL: nvidia_use,
    amd.AMD_SMI: amd.amd_use,
    amd.ROCM_SMI: amd.rocm_use,
    ascend.TOOL: ascend.ascend_use,
}
