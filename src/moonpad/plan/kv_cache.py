"""The KV cache of MLA in tokens, blocks and bytes, as the engines round it; linear_state.py adds what is beside MLA.

MLA keeps one latent of kv_lora_rank + qk_rope_head_dim values a token and layer. It is the same on every
tensor-parallel rank; decode context parallelism gives each of its ranks every dcp-th token; a data-parallel rank has a
cache of its own.
"""

from __future__ import annotations

import math

from moonpad.values.checkpoint import Architecture


def layer_bytes_per_token(architecture: Architecture, *, bits: float = 16) -> int:
    """Of one layer: 1,152 bytes in BF16 and 576 in FP8 for Kimi-K2, so 70,272 and 35,136 over its 61 layers."""
    return math.ceil((architecture.kv_lora_rank + architecture.qk_rope_head_dim) * bits / 8)


def whole_blocks(kv_bytes: float, bytes_per_token: int, block_size: int) -> int:
    """How many blocks so many bytes hold; 0 where there are none, or where a stage has no layer."""
    if kv_bytes <= 0 or bytes_per_token <= 0:
        return 0
    return math.floor(kv_bytes / (block_size * bytes_per_token))


def blocks_of_request(context: int, block_size: int, dcp: int) -> int:
    """Blocks that one sequence takes on each rank (vLLM: `FullAttentionSpec.max_memory_usage_bytes`); at least one."""
    on_a_rank = -(-context // dcp)
    return max(1, -(-on_a_rank // block_size))


def tokens_in(blocks: int, block_size: int, dcp: int) -> int:
    """What all sequences together hold, and the longest that one may be, over the decode-context-parallel ranks."""
    return blocks * block_size * dcp
