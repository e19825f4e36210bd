"""What a draft model takes on a device: its weights, and its own layers in the KV cache.

vLLM and SGLang slice it over the ranks of the target (`llama_eagle3.py`, `deepseek_eagle3.py`, `qwen3_dflash.py`) and
keep its keys and values in blocks of as many tokens as the target's, so that a token takes the sum of both
(`UniformTypeKVCacheSpecs`). With lightseekorg/kimi-k2.6-eagle3-mla at TP8 this is 0.760 GiB of weights; vLLM 0.20
logged 71.92 GiB with it and 71.16 without.
"""

from __future__ import annotations

import math

from msgspec import Struct

from moonpad.catalog.drafts import find_draft
from moonpad.values.checkpoint import Architecture
from moonpad.values.configuration import Configuration
from moonpad.values.draft import DraftSizes
from moonpad.values.records import replace
from moonpad.values.units import gib

_BF16_BYTES = 2


class DraftShare(Struct, frozen=True):
    """Of one device, in bytes. `most_*`: where the draft is not known, those of the largest that are published."""

    weights: int
    per_token: int
    most_weights: int
    most_per_token: int
    because: str = ""
    """What was assumed, as the end of a sentence; "" where the draft is known."""

    @property
    def uncertain_bytes(self) -> int:
        return self.most_weights - self.weights


NO_DRAFT = DraftShare(0, 0, 0, 0)


def draft_share(configuration: Configuration, kv_bits: float) -> DraftShare:
    """Nothing where no draft proposes. Without a name it is taken to be one layer of the target's attention."""
    settings, architecture, layout = configuration.settings, configuration.architecture, configuration.layout
    tp, dcp = layout.tp, layout.dcp
    if not settings.draft_tokens:
        return NO_DRAFT
    known = find_draft(settings.draft) if settings.draft else None
    sizes = configuration.draft or (known.sizes if known else None)
    table = configuration.engine.draft_table_bytes
    if sizes is not None:
        weights, per_token = draft_weights(sizes, tp, table), draft_token_bytes(sizes, tp, kv_bits, dcp)
        return DraftShare(weights, per_token, weights, per_token)
    usual, largest = assumed_draft(architecture), largest_draft(architecture)
    share = DraftShare(
        draft_weights(usual, tp, table),
        draft_token_bytes(usual, tp, kv_bits, dcp),
        draft_weights(largest, tp, table),
        draft_token_bytes(largest, tp, kv_bits, dcp),
    )
    because = (
        f"the draft is not known: taken to be one layer with latent attention and an lm_head, {gib(share.weights)} on "
        f"each device; one with plain attention takes up to {gib(share.most_weights)}, and more KV cache a token"
    )
    return replace(share, because=because)


def assumed_draft(architecture: Architecture) -> DraftSizes:
    """What most published drafts of the family are: a layer like the target's first, with an lm_head of its own."""
    return DraftSizes(
        hidden=architecture.hidden,
        intermediate=architecture.intermediate,
        heads=architecture.heads,
        q_lora_rank=architecture.q_lora_rank,
        kv_lora_rank=architecture.kv_lora_rank,
        qk_nope_head_dim=architecture.qk_nope_head_dim,
        qk_rope_head_dim=architecture.qk_rope_head_dim,
        v_head_dim=architecture.v_head_dim,
        vocabulary=architecture.vocabulary,
        max_context=architecture.max_context,
    )


def largest_draft(architecture: Architecture) -> DraftSizes:
    """As AQ-MedAI's, which has as many KV heads as heads, with a full lm_head and an embedding that is not shared."""
    return DraftSizes(
        hidden=architecture.hidden,
        intermediate=architecture.intermediate,
        heads=architecture.heads,
        kv_heads=architecture.heads,
        head_dim=architecture.v_head_dim,
        vocabulary=architecture.vocabulary,
        max_context=architecture.max_context,
        own_embedding=True,
    )


def draft_weights(sizes: DraftSizes, tp: int, table_value_bytes: int) -> int:
    """Bytes of one tensor-parallel rank, with its table of sines and cosines."""
    hidden, heads = sizes.hidden, sizes.heads
    # The first layer of an EAGLE-3 draft takes the embedding and the hidden state side by side.
    first = 2 * hidden if sizes.method == "eagle3" else hidden
    whole = sizes.fused_layers * hidden * hidden
    sliced = 0
    for inputs in (first, *[hidden] * (sizes.layers - 1)):
        if sizes.latent_attention:
            key = sizes.qk_nope_head_dim + sizes.qk_rope_head_dim
            whole += (sizes.q_lora_rank + sizes.kv_lora_rank + sizes.qk_rope_head_dim) * inputs
            sliced += (sizes.q_lora_rank or inputs) * heads * key
            sliced += sizes.kv_lora_rank * heads * (sizes.qk_nope_head_dim + sizes.v_head_dim)
            sliced += heads * sizes.v_head_dim * hidden
        else:
            # Fewer KV heads than ranks are copied, one to each rank.
            sliced += sizes.head_dim * (heads * (inputs + hidden) + 2 * max(sizes.kv_heads, tp) * inputs)
        sliced += 3 * hidden * sizes.intermediate
    sliced += sizes.vocabulary * hidden * (2 if sizes.own_embedding else 1)
    rotated = sizes.qk_rope_head_dim if sizes.latent_attention else sizes.head_dim
    return _BF16_BYTES * (whole + -(-sliced // tp)) + sizes.max_context * rotated * table_value_bytes


def draft_token_bytes(sizes: DraftSizes, tp: int, kv_bits: float, dcp: int = 1) -> int:
    """Of one token in its KV cache: the latent on each rank, or the keys and values of the rank's heads. Decode context
    parallelism deals out latents, but not the tokens of heads that no two ranks share: each rank has all of them, `dcp`
    for each of the target's.
    """
    values = sizes.kv_lora_rank + sizes.qk_rope_head_dim
    if not sizes.latent_attention:
        values = 2 * -(-sizes.kv_heads // tp) * sizes.head_dim * dcp
    return math.ceil(sizes.layers * values * kv_bits / 8)
