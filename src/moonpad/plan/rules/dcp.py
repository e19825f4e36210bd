"""Decode context parallelism: it deals the KV cache out over the tensor-parallel ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.plan.rules.backends import chosen, find, has_dcp, possible
from moonpad.plan.rules.case import Case, illegal, largest_divisor
from moonpad.values.finding import Finding

FIRST_WITH_DCP: Final = {"vllm": "0.10.2", "vllm-ascend": "0.12.0rc1", "sglang": "0.5.15"}
FIRST_WITH_FP8_KV: Final = "0.25.0"


def dcp_divides_tp(case: Case) -> Iterator[Finding]:
    dcp, tp = case.layout.dcp, case.layout.tp
    if tp % dcp:
        yield illegal(
            "dcp",
            f"decode context parallel {dcp} does not divide tensor parallel {tp}, whose ranks it uses",
            f"set dcp = {largest_divisor(tp, dcp)}",
        )


def dcp_engine(case: Case) -> Iterator[Finding]:
    dcp = case.layout.dcp
    if dcp == 1 or case.engine == "vllm-cpu":  # cpu.py says why the processor has none
        return
    first = FIRST_WITH_DCP.get(case.engine)
    if first is None:
        why = (
            "tensorrt-llm deals the KV cache out (Helix) only in the decode workers of a disaggregated deployment"
            if case.engine == "tensorrt-llm"
            else f"{case.engine} has none"
        )
        yield illegal("dcp", f"decode context parallel {dcp}: {why}", "set dcp = 1")
    elif not case.since(first):
        yield illegal(
            "dcp",
            f"decode context parallel {dcp}: {case.program} has none, it came with {first}",
            f"take {case.engine} {first} or newer, or set dcp = 1",
        )


def dcp_backend(case: Case) -> Iterator[Finding]:
    """The backend that decodes must return the log-sum-exp by which the ranks' parts are merged."""
    if case.layout.dcp == 1 or case.engine == "vllm-cpu" or not case.since(FIRST_WITH_DCP.get(case.engine, "0")):
        return
    backend = chosen(case)
    if backend is None or has_dcp(backend, case.version):
        return
    others = [name for name in possible(case) if has_dcp(find(name), case.version)]
    since = f"; it came with {case.engine} {backend.dcp_since}" if backend.dcp_since else ""
    yield illegal(
        "attention_backend" if case.settings.attention_backend else "dcp",
        f"decode context parallel {case.layout.dcp}: {backend.name}, which decodes here, has none{since}",
        f'set attention_backend = "{others[0]}"' if others else "set dcp = 1",
    )


def dcp_fp8_kv(case: Case) -> Iterator[Finding]:
    if case.engine != "vllm" or case.layout.dcp == 1 or case.since(FIRST_WITH_FP8_KV):
        return
    if case.stored_kv.startswith("fp8"):
        yield illegal(
            "kv_cache_dtype",
            f"an FP8 KV cache with decode context parallel {case.layout.dcp}: {case.program} asserts against the two; "
            f"they go together from {FIRST_WITH_FP8_KV} on",
            f'take vLLM {FIRST_WITH_FP8_KV} or newer, or set kv_cache_dtype = "{_plain(case)}", or dcp = 1',
        )


def _plain(case: Case) -> str:
    """`auto` follows a checkpoint that brings scales for an FP8 cache."""
    return "bfloat16" if case.quantization.kv_cache else "auto"
