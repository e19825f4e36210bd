"""What is wrong with the devices before anything is started on them (fault 26), with the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from moonpad.facts.device import DeviceFact, DeviceFacts
from moonpad.facts.devices import device_kind
from moonpad.facts.probe import Unknown
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.units import GIB, gib

IDLE_BYTES: Final = {"NVIDIA": 1 * GIB, "AMD": 1 * GIB, "Huawei": 5 * GIB}
"""What stays in use with nothing running: below 0.6 GiB on NVIDIA and AMD, 2.8 to 3.4 GiB on each die of an Atlas 800
A3 (public outputs of npu-smi)."""
FREE_NEEDED: Final = 0.90
"""vLLM refuses to start where less than its memory fraction is free; 0.90 is the lowest default of its versions."""

DRIVER_OF_CUDA: Final = {12: 525, 13: 580}
"""https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html, read 2026-11-20."""
OLDEST_CUDA: Final = 12
"""No engine that moonpad knows is still built for CUDA 11."""


def device_findings(
    facts: DeviceFacts | Unknown, expected: int | None = None, cuda: int = OLDEST_CUDA
) -> tuple[Finding, ...]:
    """`expected` devices were asked for; `cuda` is the major version that the engine is built for."""
    if isinstance(facts, Unknown):
        message = f"the devices cannot be read ({facts.reason})"
        return (_error("devices", message, "name the hardware with --on, or repair the driver"),)
    of_each = (finding for device in facts.devices for finding in _device_findings(device, facts))
    return (*_common_findings(facts, expected, cuda), *of_each)


def _common_findings(facts: DeviceFacts, expected: int | None, cuda: int) -> Iterator[Finding]:
    """What is wrong with the devices together, or with their driver."""
    count = len(facts.devices)
    for sentence in facts.lost:
        message = f"a device has fallen off the bus; {count} remain ({facts.tool}: {sentence})"
        yield _error("devices", message, "restart the machine, and look for Xid 79 in its kernel log")
    if expected is not None and count < expected:
        message = f"{expected} devices are needed; this machine has {count}"
        yield _error("devices", message, f"plan for {count}" if count else "name another machine")
    kinds = Counter(map(device_kind, facts.devices))
    if len(kinds) > 1:
        names = ", ".join(f"{number} of {kind}" for kind, number in kinds.most_common())
        message = f"the {count} devices are of {len(kinds)} kinds: {names}"
        yield _error("devices", message, "let the engine see one kind alone, with CUDA_VISIBLE_DEVICES or its like")
    major = "" if isinstance(facts.driver, Unknown) else facts.driver.partition(".")[0]
    needed = DRIVER_OF_CUDA.get(cuda)
    if facts.vendor == "NVIDIA" and needed is not None and major.isdigit() and int(major) < needed:
        message = f"the driver is {facts.driver}; CUDA {cuda} needs {needed} or newer"
        yield _error("driver", message, f"install driver {needed} or newer")


def _device_findings(device: DeviceFact, facts: DeviceFacts) -> Iterator[Finding]:
    where = f"device {device.index}"
    if device.health:
        yield _error(
            where, f"{device.name} is not healthy: {facts.tool} reports {device.health}", "exclude it, or repair it"
        )
    if device.mig is True:
        message = f"{device.name} is split by MIG; an engine's rank needs a whole device"
        yield _error(where, message, f"sudo nvidia-smi -i {device.index} -mig 0")
    if isinstance(device.ecc_errors, int) and device.ecc_errors > 0:
        message = f"{device.name} has {device.ecc_errors} uncorrected memory errors since its driver was loaded"
        yield _error(where, message, "restart the machine; where they come back, replace the device")
    yield from _busy(where, device, facts.vendor)


def _busy(where: str, device: DeviceFact, vendor: str) -> Iterator[Finding]:
    used, total = device.used_bytes, device.memory_bytes
    if isinstance(used, Unknown) or isinstance(total, Unknown) or used <= IDLE_BYTES.get(vendor, GIB):
        return
    # At most: the driver keeps some for itself, 614 MiB of an H200's 143,771 (benchmarks/results/gpu/pid.txt).
    message = f"{gib(used)} of {gib(total)} are in use, at most {gib(total - used)} are free"
    remedy = "stop what runs there, or exclude the device"
    severity = Severity.ERROR if total - used < FREE_NEEDED * total else Severity.WARNING
    yield Finding(severity, Code.MEMORY_LOW, where, message, remedy)


def _error(where: str, message: str, remedy: str) -> Finding:
    return Finding(Severity.ERROR, Code.PLATFORM_UNSUPPORTED, where, message, remedy)
