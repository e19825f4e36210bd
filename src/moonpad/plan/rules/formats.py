"""Which engine runs which model on which devices, and has kernels for the checkpoint's format there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.catalog.models import same_in_formats
from moonpad.engines import ENGINES
from moonpad.values.configuration import Configuration, EngineFacts
from moonpad.values.finding import Code, Finding, Severity, suboptimal, unsupported
from moonpad.values.platform import Platform
from moonpad.values.versions import may_hold

QUANTIZATION: Final = "quantization"
INT4: Final = frozenset({"int4", "w4a16"})
MODELSLIM: Final = frozenset({"w8a8", "w4a8"})
PLATFORM_NAMES: Final = {
    Platform.CUDA: "NVIDIA GPUs",
    Platform.ROCM: "AMD GPUs",
    Platform.ASCEND: "Ascend",
    Platform.CPU: "CPUs",
}
EMULATES_PACKED: Final = "0.32.0"
"""The release of vLLM that emulates MXFP4 of compressed-tensors on AMD's: vllm-project/vllm#51274 and #52803."""


def in_int4(case: Configuration) -> str:
    """How a remedy calls the INT4 weights of the same model: not every model has them."""
    found = same_in_formats(case.checkpoint.name, INT4)
    return found.id if found is not None else "an INT4 checkpoint (AWQ, GPTQ), if there is one"


def _engines(able: Callable[[EngineFacts], bool]) -> str:
    return " or ".join(engine.name for engine in ENGINES.values() if able(engine.facts))


def engine_platform(case: Configuration) -> Iterator[Finding]:
    if case.platform not in case.engine.platforms:
        runs_on = " and ".join(PLATFORM_NAMES[platform] for platform in case.engine.platforms)
        message = f"{case.engine.name} is planned on {runs_on}, not on {case.device.product}"
        remedy = f"take {_engines(lambda engine: case.platform in engine.platforms)}"
        yield Finding(Severity.ERROR, Code.PLATFORM_UNSUPPORTED, "engine", message, remedy)


def bf16_device(case: Configuration) -> Iterator[Finding]:
    sm = case.device.sm
    if case.platform is Platform.CUDA and sm is not None and sm < 80:
        message = f"{_cuda_device(case)} has no BF16, and attention of this model computes in it"
        remedy = "take devices of compute capability 8.0 or newer"
        yield Finding(Severity.ERROR, Code.PLATFORM_UNSUPPORTED, "engine", message, remedy)


def model_version(case: Configuration) -> Iterator[Finding]:
    model = case.architecture.model_type
    first = case.engine.first_versions.get(model)
    if first is not None and (not first or may_hold(case.version, first)):
        return
    if first is not None and not case.since(first):
        asked = case.engine.asked_versions.get(model)
        why = f"for which its publisher asks for {asked}" if asked else f"which came with {first}"
        yield unsupported(
            "engine",
            f"{case.program} cannot serve {model}, {why}",
            f"take {case.engine.name} {asked or first} or newer",
        )
    elif first is None and case.architecture.linear is not None:
        message = f"{case.engine.name} is not known to serve {model}, most of whose layers have linear attention"
        yield unsupported("engine", message, _another_engine(model, case.platform))
    elif first is None and model == "kimi_vl":
        message = f"{case.engine.name} is not known to serve {model}"
        remedy = _another_engine(model, case.platform)
        yield Finding(Severity.WARNING, Code.UNSUPPORTED_FORMAT, "engine", message, remedy)


def _another_engine(model: str, platform: Platform) -> str:
    """One that serves the model on these devices; where there is none, the devices that it takes."""
    here = _engines(lambda engine: model in engine.first_versions and platform in engine.platforms)
    if here:
        return f"take {here}"
    serving = [engine.facts for engine in ENGINES.values() if model in engine.facts.first_versions]
    able = [name for kind, name in PLATFORM_NAMES.items() if any(kind in engine.platforms for engine in serving)]
    return f"take {' or '.join(able)}, with {_engines(lambda engine: model in engine.first_versions)}"


def _cuda_device(case: Configuration) -> str:
    return f"{case.device.product} (compute capability {case.device.capability})"


def gguf_engine(case: Configuration) -> Iterator[Finding]:
    if case.scheme == "gguf" and not case.engine.reads_gguf:
        message = f"a GGUF checkpoint: {case.engine.name} serves this architecture from safetensors only"
        remedy = f"take {_engines(lambda engine: engine.reads_gguf)}, or the original checkpoint"
        yield unsupported(QUANTIZATION, message, remedy)


def ascend_formats(case: Configuration) -> Iterator[Finding]:
    """ModelSlim's W8A8 and W4A8 carry Ascend's own scales, which SGLang's build for NPUs reads as well."""
    modelslim = case.scheme in MODELSLIM and case.quantization.method != "compressed-tensors"
    if modelslim and not case.engine.reads_modelslim and case.platform is not Platform.ASCEND:
        message = f"{case.scheme.upper()} by ModelSlim: {case.engine.name} cannot read it, it is made for Ascend"
        remedy = f"take {_engines(lambda engine: engine.reads_modelslim)}, or the original checkpoint"
        yield unsupported(QUANTIZATION, message, remedy)


def fp8_device(case: Configuration) -> Iterator[Finding]:
    sm = case.device.sm
    if case.scheme != "fp8" or case.platform is not Platform.CUDA or sm is None or sm >= 89:
        return
    lacks = f"{_cuda_device(case)} has no FP8 arithmetic"
    first = case.engine.weight_only_fp8_since
    if first is not None and case.since(first):
        slower = f"{case.engine.title} multiplies them in BF16 (Marlin, weights alone), which is slower"
        remedy = f"take {in_int4(case)}: it needs none"
        yield suboptimal(QUANTIZATION, f"FP8 weights: {lacks}; {slower}", remedy)
    else:
        older = f" before {first}" if first is not None else ""
        message = f"FP8 experts: {lacks}, and {case.engine.name}'s kernels{older} need it"
        remedy = f"take {_engines(lambda engine: engine.weight_only_fp8_since is not None)}, or INT4 weights"
        if first is not None:
            message += " (type fp8e4nv not supported in this architecture)"
            remedy = f"take {case.engine.title} {first} or later, or INT4 weights"
        yield unsupported(QUANTIZATION, message, remedy)


def nvfp4_device(case: Configuration) -> Iterator[Finding]:
    sm = case.device.sm
    if case.scheme != "nvfp4" or case.engine.host_experts or case.platform is Platform.ASCEND:
        return  # those say it by a rule of their own
    if case.platform is not Platform.CUDA:
        message = f"{case.device.product} has no such arithmetic, {case.engine.name} could only emulate it"
        yield unsupported(QUANTIZATION, f"NVFP4 weights: {message}", "take the MXFP4 checkpoint on gfx950, or INT4")
    elif sm is not None and sm < 100:
        lacks = f"NVFP4 weights: {_cuda_device(case)} has no FP4 arithmetic"
        first = case.engine.weight_only_nvfp4_since
        if first is not None and case.since(first):
            yield suboptimal(
                QUANTIZATION,
                f"{lacks}; {case.engine.name} multiplies them in BF16 (Marlin, weights alone), and "
                "NVIDIA tests the checkpoint from Blackwell on",
                f"take {in_int4(case)}",
            )
        else:
            yield unsupported(QUANTIZATION, f"{lacks}, and {case.program} needs it", "take INT4 or FP8")


def mxfp4_device(case: Configuration) -> Iterator[Finding]:
    capability, engine, sm = case.device.capability, case.engine, case.device.sm or 0
    if case.scheme != "mxfp4" or case.platform is Platform.ASCEND or capability == "gfx950":
        return
    device = f"{case.device.product} ({capability})"
    packed = case.quantization.method == "compressed-tensors"
    if packed and case.platform is Platform.CUDA and sm >= 80:
        if sm < 100:
            message = (
                f"MXFP4 weights: {device} has no FP4 arithmetic, and {engine.title} multiplies them in BF16 (Marlin)"
            )
            yield suboptimal(QUANTIZATION, message, "take devices of compute capability 10.0, or gfx950")
    elif engine.emulates_mxfp4 and case.platform is Platform.ROCM:
        message = f"MXFP4 weights: {device} has no such arithmetic, and {engine.title} emulates it, slowly"
        if packed and not case.since(EMULATES_PACKED):
            message = f"MXFP4 weights: {engine.title} has no kernel for them on {device} before {EMULATES_PACKED}"
        yield suboptimal(QUANTIZATION, message, "take devices of gfx950" if packed else f"take {in_int4(case)}, or FP8")
    else:
        by = "" if packed else " by Quark"
        message = f"they are made for gfx950 (MI350, MI355), not for {device} with {engine.name}"
        remedy = f"take {in_int4(case)}, or FP8 or NVFP4 weights"
        yield unsupported(QUANTIZATION, f"MXFP4 weights{by}: {message}", remedy)
