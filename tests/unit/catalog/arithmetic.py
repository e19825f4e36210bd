"""Bytes and tensors of a Kimi-K2 checkpoint by hand: the oracle, which uses nothing of moonpad.

Shapes are those of the modeling file that the model's repository brings (modeling_deepseek.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil

LAYERS, HIDDEN, HEADS, VOCABULARY = 61, 7168, 64, 163840
EXPERTS, MOE_LAYERS = 384, 60

Q_A, Q_B = (1536, HIDDEN), (HEADS * (128 + 64), 1536)
KV_A, KV_B = (512 + 64, HIDDEN), (HEADS * (128 + 128), 512)
O_PROJ = (HIDDEN, HEADS * 128)
DENSE = ((18432, HIDDEN), (18432, HIDDEN), (HIDDEN, 18432))
EXPERT = ((2048, HIDDEN), (2048, HIDDEN), (HIDDEN, 2048))

MATRICES: Mapping[str, tuple[tuple[tuple[int, int], ...], int]] = {
    "q_a": ((Q_A,), LAYERS),
    "q_b": ((Q_B,), LAYERS),
    "kv_a": ((KV_A,), LAYERS),
    "kv_b": ((KV_B,), LAYERS),
    "o_proj": ((O_PROJ,), LAYERS),
    "dense_mlp": (DENSE, 1),
    "shared_experts": (EXPERT, MOE_LAYERS),
    "routed_experts": (EXPERT, MOE_LAYERS * EXPERTS),
}
ATTENTION = ("q_a", "q_b", "kv_a", "kv_b", "o_proj")

Matrix = Callable[[int, int], tuple[int, int]]
"""(rows, columns) → (bytes, tensors) of one matrix in a format."""


def bf16(rows: int, columns: int) -> tuple[int, int]:
    return 2 * rows * columns, 1


def fp8_block(rows: int, columns: int) -> tuple[int, int]:
    return rows * columns + 4 * ceil(rows / 128) * ceil(columns / 128), 2


def fp8_tensor(rows: int, columns: int) -> tuple[int, int]:
    return rows * columns + 4, 2


def int4(group: int) -> Matrix:
    """weight_packed, a BF16 scale for each group, two INT32 of weight_shape."""
    return lambda rows, columns: (rows * columns // 2 + 2 * rows * (columns // group) + 8, 3)


def nvfp4(rows: int, columns: int) -> tuple[int, int]:
    """weight, an FP8 scale for each 16, weight_scale_2 and input_scale in FP32."""
    return rows * columns // 2 + rows * (columns // 16) + 4 + 4, 4


def mxfp4(rows: int, columns: int) -> tuple[int, int]:
    return rows * columns // 2 + rows * (columns // 32), 2


def int8_channel(rows: int, columns: int) -> tuple[int, int]:
    """weight, and FP32 scale and offset of each row."""
    return rows * columns + 4 * rows + 4 * rows, 3


VISION_BYTES = 2 * (
    27 * (3 * 1152 * 1152 + 3 * 1152 + 1152 * 1152 + 1152 + 2 * 1152 * 4304 + 4304 + 1152 + 4 * 1152)  # the blocks
    + (3 * 14 * 14 * 1152 + 1152 + 64 * 64 * 1152 + 2 * 1152)  # patches, positions, the last norm
    + (2 * 1152 + 4608 * 4608 + 4608 + 4608 * 7168 + 7168)  # the projector over 2 × 2 patches
)


def checkpoint(formats: Mapping[str, Matrix], *, vision: bool = False) -> tuple[int, int]:
    """(bytes, tensors) of all files, the 61 rotary tables among them; of a vision tower the bytes alone."""
    size, tensors = 0, 0
    for name, (shapes, times) in MATRICES.items():
        for rows, columns in shapes:
            matrix = formats.get(name, bf16)(rows, columns)
            size, tensors = size + times * matrix[0], tensors + times * matrix[1]
    size += 2 * 2 * VOCABULARY * HIDDEN  # embed_tokens and lm_head
    size += 2 * (LAYERS * (2 * HIDDEN + 1536 + 512) + HIDDEN)  # norms
    size += MOE_LAYERS * (2 * EXPERTS * HIDDEN + 4 * EXPERTS)  # routers, their biases in FP32
    size += LAYERS * 4 * 56  # rotary_emb.inv_freq
    tensors += 2 + (4 * LAYERS + 1) + 2 * MOE_LAYERS + LAYERS
    return size + (VISION_BYTES if vision else 0), tensors
