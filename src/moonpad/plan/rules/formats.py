"""Which engine has kernels for a checkpoint's format on which devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.plan.rules.case import Case, suboptimal, unsupported
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Platform

QUANTIZATION: Final = "quantization"
INT4: Final = frozenset({"int4", "w4a16"})
ASCEND_ONLY: Final = frozenset({"w8a8", "w4a8"})


def gguf_engine(case: Case) -> Iterator[Finding]:
    if case.scheme == "gguf" and case.engine != "ktransformers":
        yield unsupported(
            QUANTIZATION,
            f"a GGUF checkpoint: {case.engine} serves this architecture from safetensors only",
            "take ktransformers, or the original checkpoint",
        )


def ascend_formats(case: Case) -> Iterator[Finding]:
    """ModelSlim's W8A8 and W4A8 carry Ascend's own scales."""
    of_ascend = case.scheme in ASCEND_ONLY and case.quantization.method != "compressed-tensors"
    if of_ascend and case.engine != "vllm-ascend":
        yield unsupported(
            QUANTIZATION,
            f"{case.scheme.upper()} by ModelSlim: {case.engine} cannot read it, it is made for Ascend",
            "take vllm-ascend, or the original checkpoint",
        )
    if case.engine == "vllm-ascend" and case.scheme in ("fp8", "nvfp4", "mxfp4"):
        yield unsupported(
            QUANTIZATION,
            f"{case.scheme.upper()} weights: {case.device.product} has no such arithmetic, and vLLM-Ascend no kernels "
            "for them with this architecture",
            "take a W8A8 or W4A8 checkpoint made for Ascend, or Kimi-K2-Thinking in INT4",
        )


def ascend_int4_targets(case: Case) -> Iterator[Finding]:
    if case.engine == "vllm-ascend" and case.scheme in INT4:
        yield Finding(
            Severity.NOTE,
            Code.UNSUPPORTED_FORMAT,
            QUANTIZATION,
            'INT4 experts: vLLM-Ascend finds them only where config.json says targets ["MoE"] instead of ["Linear"]',
            "run `moonpad checkpoint adapt`, or edit quantization_config.config_groups.group_0.targets",
        )


def int4_engine(case: Case) -> Iterator[Finding]:
    if case.engine == "tensorrt-llm" and case.scheme in INT4:
        yield unsupported(
            QUANTIZATION,
            "INT4 in compressed-tensors: tensorrt-llm reads 8-bit FP8, NVFP4 and MXFP4 of that kind",
            "take the NVFP4 checkpoint on Blackwell, or an FP8 one",
        )
    if case.engine == "vllm-ascend" and case.scheme in INT4 and not case.since("0.12.0rc1"):
        yield unsupported(
            QUANTIZATION,
            f"INT4 experts: {case.program} has no W4A16 method, it came with 0.12.0rc1",
            "take vllm-ascend 0.12.0rc1 or newer",
        )


def fp8_device(case: Case) -> Iterator[Finding]:
    sm = case.device.sm
    if case.scheme != "fp8" or case.platform is not Platform.CUDA or sm is None or sm >= 89:
        return
    has = f"{case.device.product} (compute capability {case.device.capability}) has no FP8 arithmetic"
    if case.engine == "vllm":
        yield suboptimal(
            QUANTIZATION,
            f"FP8 weights: {has}; vLLM multiplies them in BF16 (Marlin, weights alone), which is slower",
            "take the INT4 checkpoint, which needs none",
        )
    else:
        yield unsupported(
            QUANTIZATION, f"FP8 experts: {has}, and {case.engine}'s kernels need it", "take vllm, or INT4 weights"
        )


def nvfp4_device(case: Case) -> Iterator[Finding]:
    if case.scheme != "nvfp4" or case.engine == "vllm-ascend":  # ascend_formats says it
        return
    sm = case.device.sm
    if case.engine == "ktransformers":
        yield unsupported(
            QUANTIZATION,
            "NVFP4 weights: ktransformers multiplies the experts on the processor, and has no kernel for NVFP4 there",
            "take the INT4 checkpoint, which it reads as it is (RAWINT4)",
        )
    elif case.platform is not Platform.CUDA:
        yield unsupported(
            QUANTIZATION,
            f"NVFP4 weights: {case.device.product} has no such arithmetic, {case.engine} could only emulate it",
            "take the MXFP4 checkpoint on gfx950, or INT4",
        )
    elif sm is not None and sm < 100:
        has = f"{case.device.product} (compute capability {case.device.capability}) has no FP4 arithmetic"
        falls_back = case.engine == "vllm" or (case.engine == "sglang" and case.since("0.5.13"))
        if falls_back:
            yield suboptimal(
                QUANTIZATION,
                f"NVFP4 weights: {has}; {case.engine} multiplies them in BF16 (Marlin, weights alone), and NVIDIA "
                "tests the checkpoint from Blackwell on",
                "take the INT4 checkpoint",
            )
        else:
            yield unsupported(QUANTIZATION, f"NVFP4 weights: {has}, and {case.program} needs it", "take INT4 or FP8")


def mxfp4_device(case: Case) -> Iterator[Finding]:
    device = case.device
    if case.scheme != "mxfp4" or case.engine == "vllm-ascend" or device.capability == "gfx950":
        return
    if case.engine == "vllm" and case.platform is Platform.ROCM:
        yield suboptimal(
            QUANTIZATION,
            f"MXFP4 weights: {device.product} ({device.capability}) has no such arithmetic, and vLLM emulates it, "
            "slowly",
            "take the INT4 or FP8 checkpoint",
        )
    else:
        yield unsupported(
            QUANTIZATION,
            f"MXFP4 weights by Quark: they are made for gfx950 (MI350, MI355), not for {device.product} "
            f"({device.capability}) with {case.engine}",
            "take the INT4, FP8 or NVFP4 checkpoint",
        )
