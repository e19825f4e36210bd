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
        uses = ask(tool, timeout_s)
        if not isinstance(uses, Unknown):
            return uses
        why.append(uses.reason)
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
    uses = []
    for line in text.splitlines():
        index, *values = (value.strip() for value in line.split(","))
        if len(values) == 3 and index.isascii() and index.isdigit():
            power_w, percent, mib = map(number_or_none, values)
            uses.append(DeviceUse.of(int(index), power_w, percent, None if mib is None else mib * MIB))
    return tuple(uses)


ASK: Final[Mapping[str, Callable[[str, float], tuple[DeviceUse, ...] | Unknown]]] = {
    nvidia.TOOL: nvidia_use,
    amd.AMD_SMI: amd.amd_use,
    amd.ROCM_SMI: amd.rocm_use,
    ascend.TOOL: ascend.ascend_use,
}
