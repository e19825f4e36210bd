"""How a quantised matrix lies in the files, by what each quantiser says of it.

`TensorFormat.extra_tensors` counts every tensor beside the weight's own, its scales among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moonpad.checkpoints.architecture import integer, pair, short
from moonpad.values.checkpoint import TensorFormat
from moonpad.values.errors import CheckpointError

ROW: Final = 1 << 20
"""As many columns as no row has: one scale for each output feature."""
MAX_BLOCK: Final = 1 << 16

FP16: Final = TensorFormat("fp16", 16)
INT4_FORMATS: Final = (TensorFormat("int4", 4, (1, 32), 2, 8, 2),)


def fp8_format(config: Mapping[str, Any]) -> TensorFormat:
    """`quant_method: fp8`. One FP32 `weight_scale_inv` for each block, or one FP32 scale for the whole matrix."""
    if config.get("weight_block_size") is not None:
        return TensorFormat("fp8", 8, pair(config, "weight_block_size", MAX_BLOCK), 4, 0, 1)
    scales = 2 if config.get("activation_scheme") == "static" else 1  # with a static scheme that of the input, too
    return TensorFormat("fp8", 8, None, 0, 4 * scales, scales)


def compressed_format(group: Mapping[str, Any], format_: object) -> TensorFormat:
    """One of `config_groups` of compressed-tensors: https://github.com/vllm-project/compressed-tensors."""
    weights = group.get("weights")
    if not isinstance(weights, dict):
        raise CheckpointError("has a config group without weights")
    bits = integer(weights, "num_bits", 4, 8)
    kind, strategy = weights.get("type"), weights.get("strategy")
    packing = group.get("format") or format_
    if weights.get("symmetric") is False:
        raise CheckpointError("has weights with zero points, which are not modelled")
    match kind, bits:
        case "float", 4 if packing == "mxfp4-pack-quantized":
            return TensorFormat("mxfp4", 4, (1, 32), 1, 0, 1)
        case "float", 4:
            return TensorFormat("nvfp4", 4, (1, _group(weights)), 1, 8, 3)
        case "float", 8:
            return _eight_bits("fp8", weights, strategy)
        case "int", 8 if packing != "pack-quantized":
            return _eight_bits("int8", weights, strategy)
        case "int", 4 | 8 if bits == 8 or strategy in ("group", "channel"):
            columns = _group(weights) if strategy == "group" else ROW
            return TensorFormat(f"int{bits}", bits, (1, columns), 2, 8, 2)
    raise CheckpointError(
        f"has weights of {bits} bits, type {short(kind)}, by {short(strategy)}, which are not modelled"
    )


def _eight_bits(name: str, weights: Mapping[str, Any], strategy: object) -> TensorFormat:
    if strategy == "block":
        return TensorFormat(name, 8, pair(weights, "block_structure", MAX_BLOCK), 2, 0, 1)
    if strategy == "channel":
        return TensorFormat(name, 8, (1, ROW), 2, 0, 1)
    if strategy == "tensor":
        return TensorFormat(name, 8, None, 0, 2, 1)
    raise CheckpointError(f"has 8-bit weights by {short(strategy)}, which are not modelled")


def modelopt_format(config: Mapping[str, Any]) -> TensorFormat:
    """NVFP4: weight_scale in FP8 for each group, weight_scale_2 and input_scale in FP32. FP8: two FP32 scales."""
    algorithm = config.get("quant_algo")
    if algorithm == "NVFP4":
        return TensorFormat("nvfp4", 4, (1, integer(config, "group_size", 1, MAX_BLOCK, 16)), 1, 8, 3)
    if algorithm == "FP8":
        return TensorFormat("fp8", 8, None, 0, 8, 2)
    raise CheckpointError(f"is quantised by ModelOpt to {short(algorithm)}; only NVFP4 and FP8 are modelled")


def quark_format(entry: object) -> TensorFormat:
    """One entry of quark's configuration. MXFP4: an E8M0 scale for each 32 weights."""
    weight = entry.get("weight") if isinstance(entry, dict) else None
    if not isinstance(weight, dict):
        raise CheckpointError("has a layer that quark quantises without weight")
    dtype, scheme = weight.get("dtype"), weight.get("qscheme")
    if dtype in ("fp4", "fp4_e2m1") and scheme == "per_group":
        return TensorFormat("mxfp4", 4, (1, _group(weight)), 1, 0, 1)
    if dtype == "fp8_e4m3" and scheme == "per_tensor":
        return TensorFormat("fp8", 8, None, 0, 4, 1)
    if dtype == "fp8_e4m3" and scheme == "per_channel":
        return TensorFormat("fp8", 8, (1, ROW), 4, 0, 1)
    raise CheckpointError(f"has weights of {short(dtype)} {short(scheme)} by quark, which are not modelled")


def modelslim_format(kind: str, hidden: int) -> TensorFormat | None:
    """Of the words of quant_model_description.json; None for FLOAT.

    What lies beside a weight is what vLLM-Ascend reads (vllm_ascend/quantization/methods): `weight_scale` and
    `weight_offset` for each output feature, in FP32; with 4 bits a `scale_bias` too, of 16 columns for the down
    projection and one for the others, which is spread evenly over the three matrices of an expert here.
    """
    if kind == "FLOAT":
        return None
    if kind.startswith("W4A8"):
        return TensorFormat("int4", 4, (1, ROW), 12, 4 * 15 * hidden // 3, 3)
    if kind.startswith("W8A8"):
        return TensorFormat("int8", 8, (1, ROW), 8, 0, 2)
    raise CheckpointError(f"has weights of {short(kind)} by ModelSlim, which are not modelled")


def _group(weights: Mapping[str, Any]) -> int:
    return integer(weights, "group_size", 1, MAX_BLOCK)
