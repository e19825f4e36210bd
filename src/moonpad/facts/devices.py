"""The devices of this machine: every vendor's tool that is there is asked, all at once, with a deadline (fault 28).

Then what they mean: a Cluster to plan for.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.hardware import device_of_driver, find_device, find_hardware
from moonpad.facts.amd import amd_devices, rocm_devices
from moonpad.facts.ascend import ascend_devices
from moonpad.facts.device import DeviceFact, DeviceFacts
from moonpad.facts.memory import memory
from moonpad.facts.nvidia import nvidia_devices
from moonpad.facts.probe import Unknown
from moonpad.facts.processor import Processor, processor
from moonpad.values.cluster import Cluster, Device, Host
from moonpad.values.plan import Platform

TOOLS: Final[tuple[tuple[str, Callable[[str], DeviceFacts | Unknown]], ...]] = (
    ("nvidia-smi", nvidia_devices),
    ("amd-smi", amd_devices),
    ("rocm-smi", rocm_devices),
    ("npu-smi", ascend_devices),
)
INSTEAD: Final = {"rocm-smi": "amd-smi"}
"""The older tool is asked where the newer one is not there."""
PLACES: Final = ("/usr/local/sbin", "/usr/sbin", "/opt/rocm/bin", "/usr/lib/wsl/lib")
"""Where the tools stand beside the PATH of an ordinary user."""

_FORM: Final = re.compile(r" (?:OAM|VF|HF|SXM\d.*)$")

VENDORS: Final = {"NVIDIA": Platform.CUDA, "AMD": Platform.ROCM, "Huawei": Platform.ASCEND}
USABLE: Final = 0.98
"""Of what the driver says, what an engine sees of an unknown device: between 0.979 (RTX 4090) and 0.9999 (MI300X) of
the known ones, see the hardware catalogue. The low end is the careful one."""


def devices() -> DeviceFacts | Unknown:
    """Takes no longer than the slowest tool. A machine without any tool has no devices, which is no unknown."""
    there = {name: path for name, _ in TOOLS if (path := find_tool(name)) is not None}
    asked = [(ask, there[name]) for name, ask in TOOLS if name in there and INSTEAD.get(name) not in there]
    if not asked:
        return DeviceFacts()
    with ThreadPoolExecutor(len(asked)) as pool:
        found = list(pool.map(lambda one: one[0](one[1]), asked))
    known = [one for one in found if isinstance(one, DeviceFacts)]
    if known:
        return max(known, key=lambda one: len(one.devices))
    return Unknown("; ".join(one.reason for one in found if isinstance(one, Unknown)))


def find_tool(name: str) -> str | None:
    """The path of a vendor's tool, where it is on this machine."""
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", os.defpath), *PLACES)))


def this_host() -> Host:
    """RAM (that of our cgroup where it is lower) and processor; what is not known is None."""
    ram, found = memory(), processor()
    return Host(
        memory_bytes=None if isinstance(ram, Unknown) else ram.total_bytes,
        processor="" if isinstance(found, Unknown) else found.model,
        cores=_cores(found),
    )


def _cores(found: Processor | Unknown) -> int | None:
    return None if isinstance(found, Unknown) or isinstance(found.physical_cores, Unknown) else found.physical_cores


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
    kinds = {device_kind(one) for one in facts.devices}
    if len(kinds) > 1:
        return Unknown(f"the {len(facts.devices)} devices are of {len(kinds)} kinds: {', '.join(sorted(kinds))}")
    first = facts.devices[0]
    if isinstance(first.memory_bytes, Unknown):
        return Unknown(f"the memory of {first.name} is unknown: {first.memory_bytes.reason}")
    device = _known(first, facts.vendor, first.memory_bytes) or _made(first, facts, first.memory_bytes)
    count = len(facts.devices)
    return Cluster(f"{count}x{_label(device)}", 1, count, device, own, detected=True)


def device_kind(one: DeviceFact) -> str:
    """Two devices are of one kind where name and memory are the same: ranks of one engine need equal ones."""
    if isinstance(one.memory_bytes, Unknown):
        return one.name
    return f"{one.name} with {one.memory_bytes // 2**20} MiB"


def _known(one: DeviceFact, vendor: str, memory_bytes: int) -> Device | None:
    if vendor != "Huawei":
        # Drivers add the form to some names: `MI300X OAM`, `MI300X VF`, `B300 SXM6 AC`.
        plain = _FORM.sub("", one.name)
        return device_of_driver(one.name, memory_bytes) or device_of_driver(plain, memory_bytes)
    # npu-smi calls every A3 `Ascend910`, and the chips of an A2 `910B1` to `910B4`, of which the last has 32 GB.
    device = find_device("A3" if one.package is not None else "A2" if one.name.startswith("910B") else one.name)
    if device is None or abs(device.driver_bytes - memory_bytes) * 10 > device.driver_bytes:
        return None
    return device


def _made(one: DeviceFact, facts: DeviceFacts, memory_bytes: int) -> Device:
    """A device that the catalogue does not know, from what its driver says; its rates are unknown."""
    platform = VENDORS[facts.vendor]
    sm = _sm(one.capability)
    return Device(
        id=re.sub(r"[^a-z0-9]+", "-", one.name.casefold()).strip("-"),
        product=one.name,
        vendor=facts.vendor,
        platform=platform,
        architecture="",
        capability=one.capability,
        driver_bytes=memory_bytes,
        usable_bytes=int(memory_bytes * USABLE),
        # FP8 multiplies since Ada (8.9) and on CDNA3 and CDNA4, FP4 since Blackwell (10.0) and on CDNA4.
        native_fp8=sm >= 89 or one.capability in ("gfx942", "gfx950"),
        native_fp4=sm >= 100 or one.capability == "gfx950",
        per_node=len(facts.devices),
        scaleup_domain=1,  # whether fast links join them is not asked
        standing="detected",
        source=f"{facts.tool} on this machine",
    )


def _sm(capability: str) -> int:
    major, dot, minor = capability.partition(".")
    return int(major) * 10 + int(minor) if dot and major.isdigit() and minor.isdigit() else 0


def _label(device: Device) -> str:
    row = None if device.standing == "detected" else find_hardware(device.id)
    return device.product if row is None else row.label
