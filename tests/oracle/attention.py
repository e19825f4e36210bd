"""Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1) in its two forms, and spread over the ranks
of decode context parallelism."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.oracle.weights import Array

# queries [t, heads, d], keys [s, heads, d], values [s, heads, e], scale → [t, heads, e]; token i sees those up to it
Attend = Callable[[Array, Array, Array, float], Array]


def attend(queries: Array, keys: Array, values: Array, scale: float) -> Array:
    """Causal softmax attention in one piece."""
    return _partial(queries, keys, values, scale, np.arange(len(keys)))[0]


def attend_over(ranks: int) -> Attend:
    """The same, with the tokens dealt out to so many ranks, one after the other. Each has the softmax over its own and
    its log-sum-exp; the whole is their mean, weighted by exp(lse) (as in ring attention, arXiv:2310.01889)."""

    def spread(queries: Array, keys: Array, values: Array, scale: float) -> Array:
        parts = []
        for rank in range(ranks):
            own = np.arange(rank, len(keys), ranks)
            parts.append(_partial(queries, keys[own], values[own], scale, own))
        return merge(parts)

    return spread


def merge(parts: list[tuple[Array, Array]]) -> Array:
    """Outputs [t, heads, e] with their log-sum-exps [t, heads]; -inf where a rank has seen nothing."""
    weights = np.stack([lse for _, lse in parts])
    weights = np.exp(weights - weights.max(axis=0))
    total = sum(output * weight[..., None] for (output, _), weight in zip(parts, weights, strict=True))
    return total / weights.sum(axis=0)[..., None]


def _partial(queries: Array, keys: Array, values: Array, scale: float, positions: Array) -> tuple[Array, Array]:
    scores = np.einsum("thd,shd->ths", queries, keys) * scale
    unseen = positions[None, :] > np.arange(len(queries))[:, None]
    scores = np.where(unseen[:, None, :], -np.inf, scores)
    largest = scores.max(axis=-1, initial=-np.inf)
    exps = np.exp(scores - np.where(np.isinf(largest), 0.0, largest)[..., None])
    total = exps.sum(axis=-1)
    output = np.einsum("ths,she->the", exps, values) / np.where(total == 0, 1.0, total)[..., None]
    with np.errstate(divide="ignore"):
        return output, largest + np.log(total)


def plain(latent: Array, key_rope: Array, up: Array, nope: int) -> tuple[Array, Array]:
    """Keys and values of every head, as in training.

    latent [s, rank], key_rope [s, rope], up [heads, nope + value, rank] → keys [s, heads, nope + rope], values.
    """
    heads = np.einsum("sr,hdr->shd", latent, up)
    shared = np.broadcast_to(key_rope[:, None, :], (len(latent), len(up), key_rope.shape[-1]))
    return np.concatenate([heads[..., :nope], shared], axis=-1), heads[..., nope:]


def absorbed(latent: Array, key_rope: Array, up: Array, queries: Array, nope: int) -> tuple[Array, Array, Array]:
    """Queries, keys and values as in decoding: the up-projection of keys is taken into the queries, and what is cached,
    latent and rotated key, is one head that all share. The values' one is left for `unabsorb`."""
    inner = np.einsum("thd,hdr->thr", queries[..., :nope], up[:, :nope])
    keys = np.concatenate([latent, key_rope], axis=-1)[:, None, :]
    one_head = np.broadcast_to(keys, (len(latent), len(up), keys.shape[-1]))
    values = np.broadcast_to(latent[:, None, :], (len(latent), len(up), latent.shape[-1]))
    return np.concatenate([inner, queries[..., nope:]], axis=-1), one_head, values


def unabsorb(outputs: Array, up: Array, nope: int) -> Array:
    """[t, heads, rank] → [t, heads, value]."""
    return np.einsum("thr,hdr->thd", outputs, up[:, nope:])
