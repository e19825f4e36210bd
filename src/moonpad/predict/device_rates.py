"""What the devices, links and processors of a plan could do, by their data sheets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.catalog.step_constants import StepConstants
from moonpad.plan.ranking import island_devices
from moonpad.values.configuration import Configuration
from moonpad.values.platform import Platform

ASSUMED_PCIE_BYTES_PER_S: Final = 32e9
ASSUMED_NETWORK_BITS_PER_S: Final = 200e9
ASSUMED_CORES: Final = 8


@dataclass(frozen=True, slots=True)
class DeviceRates:
    """Of one rank. `flops` by the format that is multiplied: `bf16`, `fp8`, `fp4`, `int8`."""

    bytes_per_s: float
    flops: dict[str, float]
    link_bytes_per_s: float
    network_bytes_per_s: float
    """Of one device."""
    island: int
    on_processor: bool
    notes: tuple[str, ...] = ()


def device_rates(configuration: Configuration, constants: StepConstants) -> DeviceRates:
    """Of a processor the rates of its cores, shared by the ranks of a machine."""
    device, cluster = configuration.device, configuration.cluster
    row = hardware().get(device.id)
    if device.platform is Platform.CPU:
        cores = (cluster.host.cores or ASSUMED_CORES) / max(1, configuration.ranks_per_node)
        core_flops = constants.cpu_core_flops * cores
        return DeviceRates(
            constants.cpu_core_bytes_per_s * cores,
            dict.fromkeys(("bf16", "fp8", "fp4", "int8"), core_flops),
            constants.cpu_core_bytes_per_s,
            ASSUMED_NETWORK_BITS_PER_S / 8,
            max(1, cluster.per_node * (cluster.host.sockets or 1)),
            True,
            () if cluster.host.cores else (f"{ASSUMED_CORES} cores assumed: how many the machine has is not known",),
        )
    bf16, notes = device.bf16_flops or 0.0, []
    if not bf16 or not device.memory_bytes_per_s:
        notes.append(f"the catalogue knows no rates of {device.product}: taken to be those of an A100")
    bf16 = bf16 or 312e12
    flops = dict.fromkeys(("bf16", "fp8", "fp4", "int8"), bf16)
    if row is not None:
        if device.native_fp8 and row.fp8_flops:
            flops["fp8"] = row.fp8_flops[0]
        if device.native_fp4 and row.fp4_flops:
            flops["fp4"] = row.fp4_flops[0]
        if row.int8_ops:
            flops["int8"] = row.int8_ops[0]
    pcie = row.pcie_bytes_per_s[0] if row is not None and row.pcie_bytes_per_s else ASSUMED_PCIE_BYTES_PER_S
    return DeviceRates(
        device.memory_bytes_per_s or 2.0e12,
        flops,
        device.scaleup_bytes_per_s or pcie,
        (device.network_bits_per_s or ASSUMED_NETWORK_BITS_PER_S) / 8,
        island_devices(cluster),
        False,
        tuple(notes),
    )


def arithmetic_of(format_name: str) -> str:
    """The format in which weights of another are multiplied."""
    return {"fp8": "fp8", "nvfp4": "fp4", "mxfp4": "fp4", "int8": "int8"}.get(format_name, "bf16")
