"""Kimi-K2 as its config.json says it, and devices as their drivers do: written out, so that no catalogue is asked."""

from __future__ import annotations

from collections.abc import Iterable

from moonpad.values.checkpoint import Architecture, Component, LinearAttention, Quantization, TensorFormat, TensorGroup
from moonpad.values.cluster import Cluster, Device, Host
from moonpad.values.plan import Platform
from moonpad.values.records import replace
from moonpad.values.units import GIB, MIB

K2 = Architecture(
    model_type="kimi_k2",
    layers=61,
    hidden=7168,
    heads=64,
    q_lora_rank=1536,
    kv_lora_rank=512,
    qk_nope_head_dim=128,
    qk_rope_head_dim=64,
    v_head_dim=128,
    intermediate=18432,
    dense_layers=1,
    routed_experts=384,
    experts_per_token=8,
    shared_experts=1,
    moe_intermediate=2048,
    vocabulary=163840,
    max_context=262144,
)
K2_VISION = replace(K2, model_type="kimi_k25", vision_parameters=471_143_920, vision_heads=16)
KIMI_LINEAR = replace(
    K2,
    model_type="kimi_linear",
    layers=27,
    hidden=2304,
    heads=32,
    q_lora_rank=0,
    intermediate=9216,
    routed_experts=256,
    moe_intermediate=1024,
    max_context=1_048_576,
    linear=LinearAttention((3, 7, 11, 15, 19, 23, 26), heads=32, head_dim=128, kernel=4),
)
K3 = replace(
    K2,
    model_type="kimi_k3",
    layers=93,
    heads=96,
    intermediate=33792,
    routed_experts=896,
    experts_per_token=16,
    shared_experts=2,
    moe_intermediate=3072,
    max_context=1_048_576,
    linear=LinearAttention((*range(3, 93, 4), 92), heads=96, head_dim=128, kernel=4, full_gate=True),
    output_gate=True,
    expert_hidden=3584,
    attention_residuals=True,
)
TINY = Architecture(
    model_type="kimi_k2",
    layers=4,
    hidden=256,
    heads=4,
    q_lora_rank=256,
    kv_lora_rank=512,
    qk_nope_head_dim=128,
    qk_rope_head_dim=64,
    v_head_dim=128,
    intermediate=512,
    dense_layers=1,
    routed_experts=8,
    experts_per_token=2,
    shared_experts=1,
    moe_intermediate=192,
    vocabulary=1024,
    max_context=32768,
)

_FP8_BLOCK = TensorFormat("fp8", 8, (128, 128), 4, extra_tensors=1)
_INT4_GROUP = TensorFormat("int4", 4, (1, 32), 2, extra_bytes=8, extra_tensors=2)
LINEAR = (
    Component.Q_A,
    Component.Q_B,
    Component.KV_A,
    Component.KV_B,
    Component.O_PROJ,
    Component.DENSE_MLP,
    Component.SHARED_EXPERTS,
    Component.ROUTED_EXPERTS,
)
FP8 = Quantization("fp8", "fp8", dict.fromkeys(LINEAR, _FP8_BLOCK))
INT4 = Quantization("int4", "compressed-tensors", {Component.ROUTED_EXPERTS: _INT4_GROUP})
PLAIN = Quantization("bf16")


def device(
    name: str, capability: str, driver_mib: int, usable_gib: float, platform: Platform = Platform.CUDA
) -> Device:
    return Device(
        id=name,
        product=name.upper(),
        vendor="",
        platform=platform,
        architecture="",
        capability=capability,
        driver_bytes=driver_mib * MIB,
        usable_bytes=round(usable_gib * GIB),
        native_fp8=True,
        native_fp4=False,
        per_node=8,
        scaleup_domain=8,
    )


def cluster(device: Device, nodes: int = 1, per_node: int = 8, host: Host | None = None) -> Cluster:
    return Cluster(f"{nodes}x{per_node}x{device.product}", nodes, per_node, device, host or Host())


H100 = device("h100-sxm", "9.0", 81559, 79.18)
H800 = device("h800-sxm", "9.0", 81559, 79.18)
H200 = device("h200-sxm", "9.0", 143771, 139.80)
B200 = device("b200-sxm", "10.0", 183359, 178.35)
A100 = device("a100-sxm80", "8.0", 81920, 79.15)
RTX4090_48G = device("rtx4090-48g", "8.9", 49140, 47.4)
RTX_PRO_6000 = replace(device("rtx-pro-6000", "12.0", 97887, 95.0), scaleup_domain=1)
CPU = device("cpu", "", 0, 0.0, Platform.CPU)


def bytes_by_component(groups: Iterable[TensorGroup]) -> dict[Component, int]:
    """Bytes of each component that is there, over all layers."""
    sizes: dict[Component, int] = {}
    for group in groups:
        sizes[group.component] = sizes.get(group.component, 0) + group.size_bytes
    return sizes
