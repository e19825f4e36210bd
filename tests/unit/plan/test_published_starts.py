"""Whole plans against starts that others published: what was left for the KV cache lies in the range (GiB a device)."""

from __future__ import annotations

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import find_model
from moonpad.engines import ENGINES
from moonpad.plan.effective_settings import limits_of
from moonpad.plan.memory import memory_of
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Settings
from moonpad.values.plan_answer import confidence_of
from moonpad.values.units import GIB


def configuration(model: str, on: str, engine: str, version: str, layout: Layout, settings: Settings) -> Configuration:
    known = find_model(model)
    assert known is not None
    facts = ENGINES[engine].facts
    return Configuration(catalog_checkpoint(known), parse_cluster(on), facts, version, layout, settings)


def limits(sequences: int, tokens: int, fraction: float, **more: object) -> Settings:
    return Settings(
        max_num_seqs=sequences,
        max_num_batched_tokens=tokens,
        gpu_memory_utilization=fraction,
        **more,  # type: ignore[arg-type]
    )


K2_5, K2_6, K2_7 = "moonshotai/Kimi-K2.5", "moonshotai/Kimi-K2.6", "moonshotai/Kimi-K2.7-Code"
RTX = "8xRTX-PRO-6000"
FP8 = {"kv_cache_dtype": "fp8", "attention_backend": "TRITON_MLA"}


@pytest.mark.parametrize(
    ("model", "on", "version", "layout", "settings", "kv_gib"),
    [
        (K2_5, "8xH100", "0.15.0", Layout(tp=8), limits(64, 8192, 0.95, max_model_len=8192), 0.64),
        (K2_5, "8xH200", "0.18.0", Layout(tp=8), limits(1024, 8192, 0.92, mm_encoder_tp_mode="data"), 51.63),
        (K2_6, "8xH200", "0.20.0", Layout(tp=8), limits(1, 8192, 0.6), 9.84),
        (K2_6, "8xH200", "0.20.0", Layout(tp=8), limits(32, 4096, 0.6, draft_tokens=3), 9.44),
        (K2_6, "8xH200", "0.20.0", Layout(dp=8, ep=8), limits(1, 8192, 0.6), -19.08),
        (K2_6, RTX, "0.19.0", Layout(tp=8), limits(128, 8192, 0.94, **FP8), 491_200 * 35_136 / GIB),
        (K2_6, RTX, "0.25.0", Layout(tp=8, dcp=4), limits(128, 8192, 0.94, **FP8), 1_686_656 / 4 * 35_136 / GIB),
        (K2_7, RTX, "0.23.0", Layout(tp=8), limits(64, 8192, 0.94, **FP8), 468_368 * 35_136 / GIB),
    ],
)  # fmt: skip
def test_vllm(model: str, on: str, version: str, layout: Layout, settings: Settings, kv_gib: float) -> None:
    kv = memory_of(configuration(model, on, "vllm", version, layout, settings)).kv_bytes
    assert kv.low <= kv_gib * GIB <= kv.high, [end / GIB for end in (kv.low, kv.value, kv.high)]


def test_sglang_on_amd() -> None:
    """A log of 0.5.8.post1: mem_fraction_static=0.8260405859375, 160.63 GB for the KV cache, 2,454,421 tokens."""
    of = configuration(K2_5, "8xMI355X", "sglang", "0.5.8.post1", Layout(tp=8), Settings())
    assert limits_of(of).memory_fraction == pytest.approx(0.8260405859375, abs=1e-4)
    memory = memory_of(of)
    assert memory.kv_bytes.low <= 160.63 * GIB <= memory.kv_bytes.high
    assert memory.kv_tokens.low <= 2_454_421 <= memory.kv_tokens.high


def test_what_failed_is_never_likely() -> None:
    """8xH100 at 0.90 had −3.32 GiB left; with a draft, DCP 8 and 0.90 of 8xRTX-PRO-6000 the first decode ran
    out of memory, with 0.88 it did not."""
    failed = configuration(K2_5, "8xH100", "vllm", "0.15.0", Layout(tp=8), limits(64, 8192, 0.90, max_model_len=8192))
    assert not memory_of(failed).fits
    at = {
        fraction: memory_of(
            configuration(
                K2_6, RTX, "vllm", "0.25.0", Layout(tp=8, dcp=8),
                limits(128, 8192, fraction, draft_tokens=3, max_model_len=262_144, **FP8),
            )
        )
        for fraction in (0.90, 0.88)
    }  # fmt: skip
    assert confidence_of(at[0.90]) == "tight"
    assert all(memory.fits for memory in at.values())
    outside = [memory.outside.probability if memory.outside else 1.0 for memory in at.values()]
    assert outside[0] < 0.9 < outside[1] + 0.05
