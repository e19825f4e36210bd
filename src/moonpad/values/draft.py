"""A small model that proposes tokens for speculative decoding, beside the one that checks them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

DraftMethod = Literal["eagle3", "dflash", "dspark"]


class DraftSizes(Struct, frozen=True, kw_only=True):
    """By the names of its config.json, in BF16. Plain attention has `kv_heads` and `head_dim`, latent attention the
    other five sizes.
    """

    method: DraftMethod = "eagle3"
    layers: int = 1
    fused_layers: int = 3
    """Hidden states of so many layers of the target come in, through one matrix that lies whole on every rank."""
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int = 0
    head_dim: int = 0
    q_lora_rank: int = 0
    kv_lora_rank: int = 0
    qk_nope_head_dim: int = 0
    qk_rope_head_dim: int = 0
    v_head_dim: int = 0
    vocabulary: int
    """Of its own lm_head; 0: it uses the target's."""
    max_context: int
    own_embedding: bool = False
    """It keeps an embedding of its own, as large as the lm_head. One that equals the target's is shared."""

    @property
    def latent_attention(self) -> bool:
        return self.kv_lora_rank > 0
