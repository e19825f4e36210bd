"""The devices of this machine, by the tools of their vendors: what there is, what they do now, and the Cluster to plan
for. Every tool has a deadline (fault 28)."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.hardware import device_of_driver, find_device, find_hardware
from moonpad.facts import amd, ascend, nvidia
from moonpad.facts.device import DeviceFact, DeviceFacts, DeviceUse
from moonpad.facts.memory import memory
from moonpad.facts.probe import Unknown
from moonpad.facts.processor import processor
from moonpad.values.cluster import Cluster, Device, Host, compute_capability
from moonpad.values.plan import Platform
from moonpad.values.records import replace

TOOLS: Final[Mapping[str, Callable[[str], DeviceFacts | Unknown]]] = {
    nvidia.TOOL: nvidia.nvidia_devices,
    amd.AMD_SMI: amd.amd_devices,
    amd.ROCM_SMI: amd.rocm_devices,
    ascend.TOOL: ascend.ascend_devices,
}
USE: Final[Mapping[str, Callable[[str, float], tuple[DeviceUse, ...] | Unknown]]] = {
    nvidia.TOOL: nvidia.nvidia_use,
    amd.AMD_SMI: amd.amd_use,
    amd.ROCM_SMI: amd.rocm_use,
    ascend.TOOL: ascend.ascend_use,
}
INSTEAD: Final = {amd.ROCM_SMI: amd.AMD_SMI}
"""The older tool is asked where the newer one is not there."""
PLACES: Final = ("/usr/local/sbin", "/usr/sbin", "/opt/rocm/bin", "/usr/lib/wsl/lib")
"""Where the tools stand beside the PATH of an ordinary user."""

_FORM: Final = re.compile(r" (?:OAM|VF|HF|SXM\d.*)$")

VENDORS: Final = {"NVIDIA": Platform.CUDA, "AMD": Platform.ROCM, "Huawei": Platform.ASCEND}
USABLE: Final = 0.98
"""Of what the driver says, what an engine sees of an unknown device: between 0.979 (RTX 4090) and 0.9999 (MI300X) of
the known ones, see the hardware catalogue. The low end is the careful one."""


def devices() -> DeviceFacts | Unknown:
    """All tools that are here are asked at once. A machine without any has no devices: that is not Unknown."""
    tools = {name: path for name in TOOLS if (path := find_tool(name)) is not None}
    names = [name for name in tools if INSTEAD.get(name) not in tools]
    if not names:
        return DeviceFacts()
    with ThreadPoolExecutor(len(names)) as pool:
        answers = list(pool.map(lambda name: TOOLS[name](tools[name]), names))
    answered = [facts for facts in answers if isinstance(facts, DeviceFacts)]
    if answered:
        return max(answered, key=lambda facts: len(facts.devices))
    return Unknown("; ".join(facts.reason for facts in answers if isinstance(facts, Unknown)))


def device_use(timeout_s: float) -> tuple[DeviceUse, ...] | Unknown:
    """By the first of the tools that are here and answer; else why none does."""
    reasons = []
    for name, ask in USE.items():
        if (tool := find_tool(name)) is not None:
            uses = ask(tool, timeout_s)
            if not isinstance(uses, Unknown):
                return uses
            reasons.append(uses.reason)
    return Unknown("; ".join(reasons) or f"none of {', '.join(USE)} is installed here")


def find_tool(name: str) -> str | None:
    """The path of a vendor's tool, where it is on this machine."""
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", os.defpath), *PLACES)))


def this_host() -> Host:
    """RAM (that of our cgroup where it is lower) and processor; what is not known is None."""
    ram, cpu = memory(), processor()
    memory_bytes = None if isinstance(ram, Unknown) else ram.total_bytes
    if isinstance(cpu, Unknown):
        return Host(memory_bytes)
    cores = None if isinstance(cpu.physical_cores, Unknown) else cpu.physical_cores
    return Host(memory_bytes, processor=cpu.model, cores=cores, amx="amx_tile" in cpu.flags)


def detect_cluster(facts: DeviceFacts | Unknown, host: Host | None = None) -> Cluster | Unknown:
    """This machine as a cluster of one node; without devices it is a CPU.

    Unknown where the driver did not answer, or where the devices are of several kinds. `host` None: `this_host()`.
    """
    if isinstance(facts, Unknown):
        return facts
    own = this_host() if host is None else host
    if not facts.devices:
        if facts.lost:
            return Unknown(facts.lost[0])
        return replace(parse_cluster("cpu"), host=own, detected=True)
    kinds = {device_kind(device) for device in facts.devices}
    if len(kinds) > 1:
        return Unknown(f"the {len(facts.devices)} devices are of {len(kinds)} kinds: {', '.join(sorted(kinds))}")
    first = facts.devices[0]
    named = find_device(first.name)
    if isinstance(first.memory_bytes, Unknown) and named is not None and named.unified:
        count = len(facts.devices)  # whose driver gives no figure, because the memory is the host's
        return Cluster(f"{count}x{_label(named)}", 1, count, named, own, detected=True)
    if isinstance(first.memory_bytes, Unknown):
        return Unknown(f"the memory of {first.name} is unknown: {first.memory_bytes.reason}")
    device = _known(first, facts.vendor, first.memory_bytes) or _made(first, facts, first.memory_bytes)
    count = len(facts.devices)
    return Cluster(f"{count}x{_label(device)}", 1, count, device, own, detected=True)


def device_kind(device: DeviceFact) -> str:
    """Two devices are of one kind where name and memory are the same: ranks of one engine need equal ones."""
    if isinstance(device.memory_bytes, Unknown):
        return device.name
    return f"{device.name} with {device.memory_bytes // 2**20} MiB"


def _known(fact: DeviceFact, vendor: str, memory_bytes: int) -> Device | None:
    if vendor != "Huawei":
        # Drivers add the form to some names: `MI300X OAM`, `MI300X VF`, `B300 SXM6 AC`.
        plain = _FORM.sub("", fact.name)
        return device_of_driver(fact.name, memory_bytes) or device_of_driver(plain, memory_bytes)
    # npu-smi calls every A3 `Ascend910`, and the chips of an A2 `910B1` to `910B4`, of which the last has 32 GB.
    device = find_device("A3" if fact.package is not None else "A2" if fact.name.startswith("910B") else fact.name)
    if device is None or abs(device.driver_bytes - memory_bytes) * 10 > device.driver_bytes:
        return None
    return device


def _made(fact: DeviceFact, facts: DeviceFacts, memory_bytes: int) -> Device:
    """A device that the catalogue does not know, from what its driver says; its rates are unknown."""
    platform = VENDORS[facts.vendor]
    sm = compute_capability(fact.capability) or 0
    return Device(
        id=re.sub(r"[^a-z0-9]+", "-", fact.name.casefold()).strip("-"),
        product=fact.name,
        vendor=facts.vendor,
        platform=platform,
        architecture="",
        capability=fact.capability,
        driver_bytes=memory_bytes,
        usable_bytes=int(memory_bytes * USABLE),
        # FP8 multiplies since Ada (8.9) and on CDNA3 and CDNA4, FP4 since Blackwell (10.0) and on CDNA4.
        native_fp8=sm >= 89 or fact.capability in ("gfx942", "gfx950"),
        native_fp4=sm >= 100 or fact.capability == "gfx950",
        per_node=len(facts.devices),
        scaleup_domain=1,  # whether fast links join them is not asked
        standing="detected",
        source=f"{facts.tool} on this machine",
    )


def _label(device: Device) -> str:
    row = None if device.standing == "detected" else find_hardware(device.id)
    return device.product if row is None else row.label
