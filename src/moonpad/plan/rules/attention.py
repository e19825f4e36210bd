"""The attention backend, the format of the KV cache and the block must go together on this device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.attention import backends
from moonpad.plan.rules.backends import attention_backends, find, fits_block, possible
from moonpad.plan.rules.case import Case, conflict, illegal, invalid, unsupported
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Platform

_VLLM_NAMES: Final = frozenset(
    {
        *("auto", "bfloat16", "float16"),
        *("fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc", "fp8_ds_mla", "fp8_per_token_head"),
        *("nvfp4", "nvfp4_4over6", "nvfp4_ds_mla", "int4_per_token_head", "int8_per_token_head", "ultraquant_4bit"),
        *("turboquant_k8v4", "turboquant_4bit_nc", "turboquant_k3v4_nc", "turboquant_3bit_nc"),
    }
)
_SGLANG_NAMES: Final = frozenset(
    {"auto", "bf16", "bfloat16", "fp8_e4m3", "fp8_e5m2", "mxfp8", "nvfp4", "fp4_mx_block16", "fp4_e2m1"}
)
KV_NAMES: Final = {
    "vllm": _VLLM_NAMES,
    "vllm-cpu": _VLLM_NAMES,
    "vllm-ascend": _VLLM_NAMES,
    "sglang": _SGLANG_NAMES,
    "sglang-cpu": _SGLANG_NAMES,
    "ktransformers": _SGLANG_NAMES,
    "tensorrt-llm": frozenset({"auto", "fp8", "nvfp4"}),
}
"""What each engine's parser takes for the format of the KV cache."""
FP8_KV_NAMES: Final = {"vllm": "fp8", "sglang": "fp8_e4m3", "ktransformers": "fp8_e4m3", "tensorrt-llm": "fp8"}
"""How each engine with an FP8 (E4M3) KV cache spells it."""


def kv_dtype_name(case: Case) -> Iterator[Finding]:
    asked, names = case.settings.kv_cache_dtype, KV_NAMES.get(case.engine)
    if asked is None or names is None or asked in names:
        return
    spelled = FP8_KV_NAMES.get(case.engine) if asked.startswith("fp8") else None
    yield invalid(
        "kv_cache_dtype",
        f'kv_cache_dtype "{asked}": {case.engine} has no such name'
        + (f"; its FP8 KV cache is called {spelled}" if spelled else ""),
        f'set kv_cache_dtype = "{spelled or "auto"}"',
    )


def kv_dtype_backend(case: Case) -> Iterator[Finding]:
    """An FP8 cache that only the engine's second choice holds is no error: the engine takes that one by itself."""
    kv, engine = case.stored_kv, case.engine
    if kv == "bf16" or engine in ("vllm-cpu", "vllm-ascend", "sglang-cpu"):  # cpu.py and kv_ascend say it for those
        return
    names = attention_backends(case.device, engine, case.version, kv)
    asked = case.settings.attention_backend
    said = f'kv_cache_dtype "{case.settings.kv_cache_dtype or "auto"}"' + (
        "" if case.settings.kv_cache_dtype not in (None, "auto") else f", {kv} by the checkpoint,"
    )
    plain = "bfloat16" if case.quantization.kv_cache else "auto"
    if asked is not None and asked in backends() and asked not in names:
        yield unsupported(
            "kv_cache_dtype",
            f"{said} with attention_backend {asked}: {asked} holds no such KV cache on {case.device.product}",
            f"leave attention_backend out: {engine} takes {names[0]}" if names else f'set kv_cache_dtype = "{plain}"',
        )
    elif not names and attention_backends(case.device, engine, case.version):
        yield unsupported(
            "kv_cache_dtype",
            f"{said}: no attention backend of {case.program} holds such a KV cache on "
            f"{case.device.product} ({case.device.capability})",
            f'set kv_cache_dtype = "{plain}"',
        )


def kv_ascend(case: Case) -> Iterator[Finding]:
    if case.engine == "vllm-ascend" and case.stored_kv != "bf16":
        yield unsupported(
            "kv_cache_dtype",
            f"a KV cache in {case.stored_kv}: {case.device.product} computes no FP8, and vLLM-Ascend quantises the "
            "cache only by a checkpoint made for it (C8)",
            'set kv_cache_dtype = "auto"',
        )


def backend_device(case: Case) -> Iterator[Finding]:
    asked = case.settings.attention_backend
    if asked is None or not attention_backends(case.device, case.engine, case.version):
        return
    names = attention_backends(case.device, case.engine, case.version)
    backend = backends().get(asked)
    if backend is None:
        yield Finding(
            Severity.NOTE,
            Code.INVALID_VALUE,
            "attention_backend",
            f'attention_backend "{asked}": moonpad knows no such backend for MLA and says nothing about it',
            f"those that it knows here: {', '.join(names)}",
        )
    elif asked not in names:
        yield invalid(
            "attention_backend",
            f"attention_backend {asked} does not decode MLA with {case.program} on {case.device.product} "
            f"({case.device.capability})",
            f"leave it out, or take one of {', '.join(names)}",
        )


def block_size(case: Case) -> Iterator[Finding]:
    size, asked = case.settings.block_size, case.settings.attention_backend
    if size is None:
        return
    if size < 1:
        yield invalid("block_size", f"block_size is {size}", "set 1 or more, or leave it out")
        return
    names = attention_backends(case.device, case.engine, case.version, case.stored_kv)
    if asked is not None:
        names = (asked,) if asked in names else ()
    if not names or any(fits_block(find(name), size) for name in names):
        return
    needs = " or ".join(f"a multiple of {find(name).block} ({name})" for name in names)
    if case.is_vllm:
        yield invalid("block_size", f"block_size {size}: attention here needs {needs}", "leave block_size out")
    else:
        yield conflict("block_size", f"block_size {size}: {case.engine} changes it, it needs {needs}", "leave it out")


def aiter_heads(case: Case) -> Iterator[Finding]:
    """AITER's MLA kernels are made for certain numbers of heads a rank."""
    if case.platform is not Platform.ROCM or case.architecture.heads % case.layout.tp:
        return
    heads = case.architecture.heads // case.layout.tp
    if case.settings.attention_backend == "ROCM_AITER_MLA" and case.engine == "vllm":
        allowed, needs = _vllm_aiter(case, heads)
    elif case.settings.attention_backend == "aiter" and case.engine == "sglang":
        allowed, needs = _sglang_aiter(case, heads)
    else:
        return
    if not allowed:
        fits = next((name for name in possible(case) if name.upper() not in ("ROCM_AITER_MLA", "AITER")), "")
        yield illegal(
            "attention_backend",
            f"tensor parallel {case.layout.tp} leaves {heads} heads a rank, and AITER MLA of {case.program} "
            f"takes {needs}",
            f'set attention_backend = "{fits}"' if fits else "set a smaller tp",
        )


def _vllm_aiter(case: Case, heads: int) -> tuple[bool, str]:
    if case.since("0.27.0"):
        return heads <= 128 or heads % 16 == 0, "up to 128, or a multiple of 16"
    if case.since("0.20.0"):
        return 16 % heads == 0 or heads % 16 == 0, "a divisor or a multiple of 16"
    if case.since("0.18.0"):
        return heads in (4, 8) or (heads % 16 == 0 and heads <= 128), "4, 8, or a multiple of 16 up to 128"
    return heads in (16, 128), "16 or 128"


def _sglang_aiter(case: Case, heads: int) -> tuple[bool, str]:
    sixteens = heads % 16 == 0 and heads <= 128
    if case.since("0.5.23"):
        return heads < 16 or sixteens, "fewer than 16, or a multiple of 16 up to 128"
    if case.since("0.5.12"):
        return heads in (4, 8) or sixteens, "4, 8, or a multiple of 16 up to 128"
    return sixteens, "a multiple of 16"
