"""Rotary positions with YaRN (arXiv:2309.00071), as DeepSeek-V3 and Kimi-K2 use it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.oracle.weights import Array


def frequencies(config: dict[str, Any]) -> Array:
    """[rope dimensions / 2] angles a token, in radians.

    Between the dimensions that turn `beta_fast` and `beta_slow` times within the original context the frequencies go
    over from the plain ones (fast: left alone) to those divided by the factor (slow: interpolated), section 3.2.
    """
    size, base = config["qk_rope_head_dim"], float(config["rope_theta"])
    plain: Array = base ** (-np.arange(0, size, 2, dtype=np.float64) / size)
    yarn = config.get("rope_scaling")
    if not yarn or yarn.get("type", yarn.get("rope_type")) != "yarn":
        return plain

    def dimension(turns: float) -> float:
        return size * math.log(yarn["original_max_position_embeddings"] / (turns * 2 * math.pi)) / (2 * math.log(base))

    low = max(math.floor(dimension(yarn.get("beta_fast", 32))), 0)
    high = min(math.ceil(dimension(yarn.get("beta_slow", 1))), size - 1)
    interpolated = np.clip((np.arange(size // 2) - low) / max(high - low, 0.001), 0.0, 1.0)
    return plain / yarn["factor"] * interpolated + plain * (1 - interpolated)


def temperature(factor: float, mscale: float) -> float:
    """How much longer a query and a key are made for a context `factor` times as long (section 3.4)."""
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0


def softmax_scale(config: dict[str, Any]) -> float:
    """1/√d, and the temperature of both sides where it is for all dimensions, not only for the rotated ones."""
    scale = float((config["qk_nope_head_dim"] + config["qk_rope_head_dim"]) ** -0.5)
    yarn = config.get("rope_scaling")
    if yarn and yarn.get("mscale_all_dim"):
        scale *= temperature(yarn["factor"], yarn["mscale_all_dim"]) ** 2
    return scale


def rotate(vectors: Array, positions: Array, config: dict[str, Any]) -> Array:
    """[tokens, …, rope dimensions]: neighbours (2i, 2i + 1) are turned by position × frequency i."""
    angles = positions[:, None] * frequencies(config)
    angles = angles.reshape(len(positions), *(1,) * (vectors.ndim - 2), -1)
    yarn, length = config.get("rope_scaling"), 1.0
    if yarn and yarn.get("mscale") and yarn.get("mscale_all_dim"):
        length = temperature(yarn["factor"], yarn["mscale"]) / temperature(yarn["factor"], yarn["mscale_all_dim"])
    even, odd = vectors[..., 0::2], vectors[..., 1::2]
    turned = np.empty_like(vectors)
    turned[..., 0::2] = (even * np.cos(angles) - odd * np.sin(angles)) * length
    turned[..., 1::2] = (even * np.sin(angles) + odd * np.cos(angles)) * length
    return turned
