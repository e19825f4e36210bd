"""Which engine has kernels for a checkpoint's format on which devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.engines import ENGINES
from moonpad.values.configuration import Configuration, EngineFacts
from moonpad.values.finding import Finding, suboptimal, unsupported
from moonpad.values.platform import Platform

QUANTIZATION: Final = "quantization"
MODELSLIM: Final = frozenset({"w8a8", "w4a8"})


def _engines(able: Callable[[EngineFacts], bool]) -> str:
    return " or ".join(engine.name for engine in ENGINES.values() if able(engine.facts))


def gguf_engine(case: Configuration) -> Iterator[Finding]:
    if case.scheme == "gguf" and not case.engine.reads_gguf:
        yield unsupported(
            QUANTIZATION,
            f"a GGUF checkpoint: {case.engine.name} serves this architecture from safetensors only",
            f"take {_engines(lambda engine: engine.reads_gguf)}, or the original checkpoint",
        )


def ascend_formats(case: Configuration) -> Iterator[Finding]:
    """ModelSlim's W8A8 and W4A8 carry Ascend's own scales."""
    if (
        case.scheme in MODELSLIM
        and case.quantization.method != "compressed-tensors"
        and not case.engine.reads_modelslim
    ):
        yield unsupported(
            QUANTIZATION,
            f"{case.scheme.upper()} by ModelSlim: {case.engine.name} cannot read it, it is made for Ascend",
            f"take {_engines(lambda engine: engine.reads_modelslim)}, or the original checkpoint",
        )


def fp8_device(case: Configuration) -> Iterator[Finding]:
    sm = case.device.sm
    if case.scheme != "fp8" or case.platform is not Platform.CUDA or sm is None or sm >= 89:
        return
    lacks = f"{case.device.product} (compute capability {case.device.capability}) has no FP8 arithmetic"
    if case.engine.weight_only_fp8:
        yield suboptimal(
            QUANTIZATION,
            f"FP8 weights: {lacks}; {case.engine.title} multiplies them in BF16 (Marlin, weights alone), which is "
            "slower",
            "take the INT4 checkpoint, which needs none",
        )
    else:
        able = _engines(lambda engine: engine.weight_only_fp8)
        message = f"FP8 experts: {lacks}, and {case.engine.name}'s kernels need it"
        yield unsupported(QUANTIZATION, message, f"take {able}, or INT4 weights")


def nvfp4_device(case: Configuration) -> Iterator[Finding]:
    sm = case.device.sm
    if case.scheme != "nvfp4" or case.engine.host_experts or case.platform is Platform.ASCEND:
        return  # those say it by a rule of their own
    if case.platform is not Platform.CUDA:
        yield unsupported(
            QUANTIZATION,
            f"NVFP4 weights: {case.device.product} has no such arithmetic, {case.engine.name} could only emulate it",
            "take the MXFP4 checkpoint on gfx950, or INT4",
        )
    elif sm is not None and sm < 100:
        lacks = f"{case.device.product} (compute capability {case.device.capability}) has no FP4 arithmetic"
        first = case.engine.weight_only_nvfp4_since
        if first is not None and case.since(first):
            yield suboptimal(
                QUANTIZATION,
                f"NVFP4 weights: {lacks}; {case.engine.name} multiplies them in BF16 (Marlin, weights alone), and "
                "NVIDIA tests the checkpoint from Blackwell on",
                "take the INT4 checkpoint",
            )
        else:
            message = f"NVFP4 weights: {lacks}, and {case.program} needs it"
            yield unsupported(QUANTIZATION, message, "take INT4 or FP8")


def mxfp4_device(case: Configuration) -> Iterator[Finding]:
    device = case.device
    if case.scheme != "mxfp4" or case.platform is Platform.ASCEND or device.capability == "gfx950":
        return
    if case.engine.emulates_mxfp4 and case.platform is Platform.ROCM:
        yield suboptimal(
            QUANTIZATION,
            f"MXFP4 weights: {device.product} ({device.capability}) has no such arithmetic, and {case.engine.title} "
            "emulates it, slowly",
            "take the INT4 or FP8 checkpoint",
        )
    else:
        yield unsupported(
            QUANTIZATION,
            f"MXFP4 weights by Quark: they are made for gfx950 (MI350, MI355), not for {device.product} "
            f"({device.capability}) with {case.engine.name}",
            "take the INT4, FP8 or NVFP4 checkpoint",
        )
