"""Tensors as NumPy arrays, from safetensors files (https://github.com/huggingface/safetensors#format) and out of the
two formats that Kimi-K2 is published in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

FP8_BLOCK = 128
INT4_GROUP = 32


def read_safetensors(path: Path) -> dict[str, Array]:
    """float32 for what is a float there; int32 and int64 as they are; FP8 as its bytes."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    body = memoryview(data)[8 + length :]
    return {name: _tensor(entry, body) for name, entry in header.items() if name != "__metadata__"}


def _tensor(about: dict[str, Any], body: memoryview) -> Array:
    begin, end = about["data_offsets"]
    raw = body[begin:end]
    match about["dtype"]:
        case "BF16":  # the upper half of a float32
            flat: Array = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        case "F16":
            flat = np.frombuffer(raw, "<f2").astype(np.float32)
        case "F32":
            flat = np.frombuffer(raw, "<f4")
        case "I32":
            flat = np.frombuffer(raw, "<i4")
        case "I64":
            flat = np.frombuffer(raw, "<i8")
        case "F8_E4M3":
            flat = np.frombuffer(raw, np.uint8)
        case other:
            raise ValueError(f"the oracle reads no {other}")
    return flat.reshape(about["shape"])


def fp8_e4m3(codes: Array) -> Array:
    """Values of E4M3 codes as in "FP8 Formats for Deep Learning" (arXiv:2209.05433, table 1): bias 7, no infinities,
    NaN where all bits but the sign are ones."""
    code = np.arange(256)
    sign, exponent, mantissa = code >> 7, (code >> 3) & 15, code & 7
    value = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7))
    value = np.where((code & 127) == 127, np.nan, value)
    table: Array = np.where(sign == 1, -value, value)
    return table[codes]


def fp8_blocks(codes: Array, scale_inv: Array) -> Array:
    """[rows, columns] of FP8 codes with one scale for each block of 128 × 128, the last ones cut (DeepSeek-V3,
    arXiv:2412.19437, section 3.3.2). `weight_scale_inv` is what a block is multiplied by."""
    rows, columns = codes.shape
    scales = scale_inv.astype(np.float64).repeat(FP8_BLOCK, axis=0).repeat(FP8_BLOCK, axis=1)
    return fp8_e4m3(codes) * scales[:rows, :columns]


def int4_groups(packed: Array, scale: Array) -> Array:
    """[rows, columns] of symmetric INT4, eight in each int32 of `packed`, the first in the lowest bits and 8 too high,
    with a scale for each 32 of a row (compressed-tensors, format "pack-quantized")."""
    words = packed.view(np.uint32)
    nibbles = (words[..., None] >> np.arange(0, 32, 4, dtype=np.uint32)) & 15
    values = nibbles.astype(np.int64).reshape(packed.shape[0], -1) - 8
    return values * scale.astype(np.float64).repeat(INT4_GROUP, axis=1)[:, : values.shape[1]]
