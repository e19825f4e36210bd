"""Which engine runs on which devices, and from which version on it knows the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.plan.rules.case import Case
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Platform

PLATFORMS: Final = {
    "vllm": (Platform.CUDA, Platform.ROCM),
    "vllm-cpu": (Platform.CPU,),
    "vllm-ascend": (Platform.ASCEND,),
    "sglang": (Platform.CUDA, Platform.ROCM),
    "sglang-cpu": (Platform.CPU,),
    "ktransformers": (Platform.CUDA,),
    "tensorrt-llm": (Platform.CUDA,),
}
NAMES: Final = {
    Platform.CUDA: "NVIDIA GPUs",
    Platform.ROCM: "AMD GPUs",
    Platform.ASCEND: "Ascend",
    Platform.CPU: "CPUs",
}

FIRST_VERSIONS: Final = {
    ("vllm", "kimi_k2"): "0.10.0rc1",
    ("vllm", "kimi_k25"): "0.15.0",
    ("vllm-cpu", "kimi_k25"): "0.15.0",
    ("vllm-ascend", "kimi_k25"): "0.17.0rc1",
    ("sglang", "kimi_k25"): "0.5.9",
    ("tensorrt-llm", "kimi_k2"): "1.0.0rc2",
}
"""(engine, model_type) → the first version that serves it, where that is known."""


def engine_platform(case: Case) -> Iterator[Finding]:
    known = PLATFORMS.get(case.engine)
    if known is not None and case.platform not in known:
        others = [engine for engine, platforms in PLATFORMS.items() if case.platform in platforms]
        yield Finding(
            Severity.ERROR,
            Code.PLATFORM_UNSUPPORTED,
            "engine",
            f"{case.engine} runs on {' and '.join(NAMES[one] for one in known)}, not on {case.device.product}",
            f"take {' or '.join(others)}",
        )


def bf16_device(case: Case) -> Iterator[Finding]:
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


def model_version(case: Case) -> Iterator[Finding]:
    first = FIRST_VERSIONS.get((case.engine, case.architecture.model_type))
    if first is not None and not case.since(first):
        yield Finding(
            Severity.ERROR,
            Code.UNSUPPORTED_FORMAT,
            "engine",
            f"{case.program} does not know {case.architecture.model_type}, it came with {first}",
            f"take {case.engine} {first} or newer",
        )
