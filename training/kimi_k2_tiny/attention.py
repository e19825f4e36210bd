"""The attention of training: one fused kernel, with what it cannot do arranged around it.

torch's fused kernel on the CPU wants keys and values of one width, and MLA has 192 and 128; without it the scores
of a row of 4,000 tokens alone take a quarter of a GiB a layer.
"""

import torch
from torch.nn.functional import pad, scaled_dot_product_attention
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

NAME = "fused_mla"


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float,
    dropout: float = 0.0,
    **_: object,
) -> tuple[torch.Tensor, None]:
    """`mask`: (rows, 1, tokens, tokens), true where a token may look; None is plain causal. Queries and keys are
    (rows, heads, tokens, width), and so is the result with its middle two the other way round."""
    width = value.shape[-1]
    padded = pad(value, (0, query.shape[-1] - width))
    seen = scaled_dot_product_attention(
        query, key, padded, attn_mask=mask, is_causal=mask is None, dropout_p=dropout, scale=scaling
    )
    return seen[..., :width].transpose(1, 2).contiguous(), None


ALL_ATTENTION_FUNCTIONS.register(NAME, attend)
