"""One forward pass of Kimi-K2's architecture in float64, from token ids to logits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracle import attention
from tests.oracle.attention import Attend, attend
from tests.oracle.experts import gated, mixture
from tests.oracle.rotary import rotate, softmax_scale
from tests.oracle.weights import Array, fp8_blocks, int4_groups, read_safetensors

Keep = Callable[[Array], Array]


def exact(x: Array) -> Array:
    return x


def bfloat16(x: Array) -> Array:
    """Rounded to the nearest that bfloat16 has, ties to even: the upper 16 bits of a float32."""
    bits = x.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32).astype(np.float64)


class Model:
    """`absorbed`: attention as decoding does it; `attend`: in one piece, or spread over ranks (attention.py); `keep`:
    what becomes of each result that an engine writes to memory, `bfloat16` to see what its rounding does."""

    def __init__(
        self,
        config: dict[str, Any],
        tensors: dict[str, Array],
        *,
        absorbed: bool = False,
        attend: Attend = attend,
        keep: Keep = exact,
    ) -> None:
        self.config, self.absorbed, self.attend, self.keep = config, absorbed, attend, keep
        self.weights = dequantised(tensors)

    @classmethod
    def of(cls, folder: Path, *, absorbed: bool = False, attend: Attend = attend, keep: Keep = exact) -> Model:
        tensors: dict[str, Array] = {}
        for path in sorted(folder.glob("*.safetensors")):
            tensors |= read_safetensors(path)
        config = json.loads((folder / "config.json").read_text())
        return cls(config, tensors, absorbed=absorbed, attend=attend, keep=keep)

    def logits(self, tokens: list[int]) -> Array:
        """[tokens, vocabulary]."""
        x = self.weights["model.embed_tokens.weight"][tokens]
        for layer in range(self.config["num_hidden_layers"]):
            own = below(self.weights, f"model.layers.{layer}.")
            x = self.keep(x + self._attention(self._norm(x, own["input_layernorm.weight"]), below(own, "self_attn.")))
            inner = self._norm(x, own["post_attention_layernorm.weight"])
            x = self.keep(x + self._feed_forward(layer, inner, below(own, "mlp.")))
        x = self._norm(x, self.weights["model.norm.weight"])
        return x @ self.weights["lm_head.weight"].T

    def logprobs(self, tokens: list[int]) -> Array:
        """[tokens, vocabulary]."""
        logits = self.logits(tokens)
        shifted = logits - logits.max(axis=-1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))

    def _norm(self, x: Array, weight: Array) -> Array:
        """RMSNorm (arXiv:1910.07467)."""
        return self.keep(x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.config["rms_norm_eps"]) * weight)

    def _attention(self, x: Array, own: dict[str, Array]) -> Array:
        config, heads = self.config, self.config["num_attention_heads"]
        nope, rank = config["qk_nope_head_dim"], config["kv_lora_rank"]
        positions, scale = np.arange(len(x), dtype=np.float64), softmax_scale(config)

        compressed_queries = self.keep(x @ own["q_a_proj.weight"].T)
        queries = self.keep(self._norm(compressed_queries, own["q_a_layernorm.weight"]) @ own["q_b_proj.weight"].T)
        queries = queries.reshape(len(x), heads, -1)
        rotated = self.keep(rotate(queries[..., nope:], positions, config))
        queries = np.concatenate([queries[..., :nope], rotated], axis=-1)

        compressed = self.keep(x @ own["kv_a_proj_with_mqa.weight"].T)
        latent = self._norm(compressed[:, :rank], own["kv_a_layernorm.weight"])
        key_rope = self.keep(rotate(compressed[:, rank:], positions, config))
        up = own["kv_b_proj.weight"].reshape(heads, -1, rank)

        if self.absorbed:
            outputs = self.attend(*attention.absorbed(latent, key_rope, up, queries, nope), scale)
            outputs = attention.unabsorb(outputs, up, nope)
        else:
            outputs = self.attend(queries, *attention.plain(latent, key_rope, up, nope), scale)
        return self.keep(self.keep(outputs.reshape(len(x), -1)) @ own["o_proj.weight"].T)

    def _feed_forward(self, layer: int, x: Array, own: dict[str, Array]) -> Array:
        if layer >= self.config["first_k_dense_replace"]:
            return self.keep(mixture(x, own, self.config))
        return self.keep(gated(x, *(own[f"{part}_proj.weight"] for part in ("gate", "up", "down"))))


def below(weights: dict[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}


def dequantised(tensors: dict[str, Array]) -> dict[str, Array]:
    """Every weight in float64 under its plain name, whatever it was stored as."""
    weights = {}
    for name, value in tensors.items():
        base = name.removesuffix("_packed")
        if name.endswith("_packed"):
            weights[base] = int4_groups(value, tensors[f"{base}_scale"])
        elif f"{name}_scale_inv" in tensors:
            weights[name] = fp8_blocks(value, tensors[f"{name}_scale_inv"])
        elif not name.endswith(("_scale", "_scale_inv", "_shape")):
            weights[name] = value.astype(np.float64)
    return weights
