"""Checkpoints and clusters by hand, from the published config.json files and data sheets, not from the catalogue."""

from __future__ import annotations

from moonpad.values.checkpoint import Architecture, Checkpoint, Component, Quantization, TensorFormat
from moonpad.values.cluster import Cluster, Device, Host
from moonpad.values.plan import Platform
from moonpad.values.records import replace
from tests.unit.plan import known

K2_256K = known.K2
K2 = replace(K2_256K, max_context=131072)
K25 = known.K2_VISION
TINY = known.TINY
KIMI_LINEAR = known.KIMI_LINEAR
K3 = known.K3

INT4_G32 = known.INT4.formats[Component.ROUTED_EXPERTS]
INT4_G128 = TensorFormat("int4", 4, (1, 128), 2, 8, 2)
NVFP4 = TensorFormat("nvfp4", 4, (1, 16), 1, 8, 3)
MXFP4 = TensorFormat("mxfp4", 4, (1, 32), 1, extra_tensors=1)
INT8 = TensorFormat("int8", 8, (1, 1048576), 8, extra_tensors=2)

QUANTIZATIONS = {
    "bf16": known.PLAIN,
    "fp8": known.FP8,
    "int4": known.INT4,
    "w4a16": Quantization("w4a16", "compressed-tensors", {Component.ROUTED_EXPERTS: INT4_G128}),
    "nvfp4": Quantization("nvfp4", "modelopt", {Component.ROUTED_EXPERTS: NVFP4}, kv_cache="fp8"),
    "mxfp4": Quantization("mxfp4", "quark", {Component.ROUTED_EXPERTS: MXFP4}),
    "mxfp4-packed": Quantization("mxfp4", "compressed-tensors", {Component.ROUTED_EXPERTS: MXFP4}),
    "w8a8": Quantization("w8a8", "ascend", dict.fromkeys(known.LINEAR, INT8)),
    "w4a8": Quantization("w4a8", "ascend", {Component.ROUTED_EXPERTS: INT4_G32}),
    "gguf": Quantization("gguf", "gguf"),
}


def checkpoint(scheme: str, architecture: Architecture = K2_256K) -> Checkpoint:
    return Checkpoint(f"Kimi in {scheme}", architecture, QUANTIZATIONS[scheme], (), "by hand", 1)


def device(
    product: str, capability: str, platform: Platform = Platform.CUDA, *, per_node: int = 8, domain: int = 8
) -> Device:
    return Device(
        id=product.lower(),
        product=product,
        vendor="",
        platform=platform,
        architecture="",
        capability=capability,
        driver_bytes=1,
        usable_bytes=1,
        native_fp8=True,
        native_fp4=False,
        per_node=per_node,
        scaleup_domain=domain,
    )


A100 = device("A100", "8.0")
L40S = device("L40S", "8.9", domain=1)
H100 = device("H100", "9.0")
H200 = device("H200", "9.0")
H800 = device("H800", "9.0")
B200 = device("B200", "10.0")
GB200 = device("GB200", "10.0", per_node=4, domain=72)
RTX_PRO = device("RTX PRO 6000", "12.0", domain=1)
GH200 = replace(device("GH200", "9.0", per_node=1, domain=1), arm_host=True)
GB10 = replace(device("GB10", "12.1", per_node=1, domain=1), unified=True)
V100 = device("V100", "7.0")
MI300X = device("MI300X", "gfx942", Platform.ROCM)
MI355X = device("MI355X", "gfx950", Platform.ROCM)
A3 = device("Ascend 910C", "A3", Platform.ASCEND, per_node=16, domain=768)
CPU = device("CPU", "", Platform.CPU, per_node=1, domain=1)


def cluster(kind: Device, nodes: int = 1, per_node: int | None = None, host: Host | None = None) -> Cluster:
    count = kind.per_node if per_node is None else per_node
    name = f"{nodes}x{count}x{kind.product}" if nodes > 1 else f"{count}x{kind.product}"
    return Cluster(name, nodes, count, kind, host or Host())
