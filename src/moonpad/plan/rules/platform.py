"""Which engine runs on which devices, and from which version on it knows the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines import ENGINES
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.platform import Platform

NAMES: Final = {
    Platform.CUDA: "NVIDIA GPUs",
    Platform.ROCM: "AMD GPUs",
    Platform.ASCEND: "Ascend",
    Platform.CPU: "CPUs",
}


def engine_platform(case: Configuration) -> Iterator[Finding]:
    if case.platform not in case.engine.platforms:
        others = [engine.name for engine in ENGINES.values() if case.platform in engine.platforms]
        yield Finding(
            Severity.ERROR,
            Code.PLATFORM_UNSUPPORTED,
            "engine",
            f"{case.engine.name} runs on {' and '.join(NAMES[name] for name in case.engine.platforms)}, not on "
            f"{case.device.product}",
            f"take {' or '.join(others)}",
        )


def bf16_device(case: Configuration) -> Iterator[Finding]:
    sm = case.device.sm
    if case.platform is Platform.CUDA and sm is not None and sm < 80:
        yield Finding(
            Severity.ERROR,
            Code.PLATFORM_UNSUPPORTED,
            "engine",
            f"{case.device.product} (compute capability {case.device.capability}) has no BF16, and attention of this "
            "model computes in it",
            "take devices of compute capability 8.0 or newer",
        )


def model_version(case: Configuration) -> Iterator[Finding]:
    first = case.engine.first_versions.get(case.architecture.model_type)
    if first is not None and not case.since(first):
        yield Finding(
            Severity.ERROR,
            Code.UNSUPPORTED_FORMAT,
            "engine",
            f"{case.program} does not know {case.architecture.model_type}, it came with {first}",
            f"take {case.engine.name} {first} or newer",
        )
