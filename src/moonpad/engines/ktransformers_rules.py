"""What KTransformers alone refuses or warns of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity, invalid, suboptimal, unsupported


def nvfp4_device(configuration: Configuration) -> Iterator[Finding]:
    if configuration.scheme == "nvfp4":
        yield unsupported(
            "quantization",
            "NVFP4 weights: ktransformers multiplies the experts on the processor, and has no kernel for NVFP4 there",
            "take the INT4 weights, if the model has them, which it reads as they are (RAWINT4)",
        )


def arm_host(configuration: Configuration) -> Iterator[Finding]:
    """kt-kernel 0.7.2 has wheels for x86-64 alone (PyPI, 2026-11-27)."""
    if configuration.device.arm_host:
        message = (
            "ktransformers multiplies the experts with AVX2, AVX-512 or AMX, and beside "
            f"{configuration.device.product} is a processor of Arm's, for which kt-kernel has no package"
        )
        remedy = "take vLLM or SGLang, or llama.cpp for experts on the processor"
        yield Finding(Severity.ERROR, Code.PLATFORM_UNSUPPORTED, "engine", message, remedy)


def rawint4_tp(configuration: Configuration) -> Iterator[Finding]:
    """One report on Hopper, which the maintainers did not see with AMX."""
    if configuration.scheme == "int4" and configuration.layout.tp == 4 and configuration.device.capability == "9.0":
        yield suboptimal(
            "tp",
            "tensor parallel 4 with the original INT4 weights: one user got garbage on 4×H200 with a processor without "
            "AMX, and right answers at tp = 1; the report is open",
            "run `moonpad verify` before you rely on it",
        )


def gpu_experts(configuration: Configuration) -> Iterator[Finding]:
    count, experts = configuration.settings.gpu_experts, configuration.architecture.routed_experts
    if count is not None and not 0 <= count <= experts:
        yield invalid("gpu_experts", f"gpu_experts {count}: a layer has {experts} experts", f"set 0 to {experts}")


RULES: Final = (nvfp4_device, arm_host, rawint4_tp, gpu_experts)
