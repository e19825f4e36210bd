"""The mixture of experts of DeepSeek-V3 (arXiv:2412.19437, section 2.1.2), as Kimi-K2 has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracle.weights import Array


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gated(x: Array, gate: Array, up: Array, down: Array) -> Array:
    """SwiGLU (arXiv:2002.05202): down(silu(gate x) · up x)."""
    inner = x @ gate.T
    return (inner * sigmoid(inner) * (x @ up.T)) @ down.T


def route(scores: Array, bias: Array, config: dict[str, Any]) -> tuple[Array, Array]:
    """(experts, weights), both [tokens, experts a token], of sigmoid scores [tokens, experts].

    The bias decides who is chosen ("auxiliary-loss-free"), and not how much each counts. Of `n_group` groups only the
    `topk_group` best are chosen from, by the sum of their two best.
    """
    choice = scores + bias
    tokens, experts = scores.shape
    groups, kept = config["n_group"], config["topk_group"]
    if kept < groups:
        members = choice.reshape(tokens, groups, -1)
        rank = np.sort(members, axis=-1)[..., -2:].sum(axis=-1)
        best = np.argsort(-rank, axis=-1, kind="stable")[:, :kept]
        open_ = np.zeros((tokens, groups), dtype=bool)
        np.put_along_axis(open_, best, True, axis=-1)
        choice = np.where(open_.repeat(experts // groups, axis=-1), choice, -np.inf)
    chosen = np.argsort(-choice, axis=-1, kind="stable")[:, : config["num_experts_per_tok"]]
    weights = np.take_along_axis(scores, chosen, axis=-1)
    if config["norm_topk_prob"]:
        weights = weights / (weights.sum(axis=-1, keepdims=True) + 1e-20)
    return chosen, weights * config["routed_scaling_factor"]


def mixture(x: Array, weights: dict[str, Array], config: dict[str, Any]) -> Array:
    """[tokens, hidden]: the chosen experts, weighted, and the shared ones."""
    chosen, counts = route(sigmoid(x @ weights["gate.weight"].T), weights["gate.e_score_correction_bias"], config)
    result = _expert(x, weights, "shared_experts") if config["n_shared_experts"] else np.zeros_like(x)
    for expert in range(config["n_routed_experts"]):
        tokens, places = np.nonzero(chosen == expert)
        if len(tokens):
            result[tokens] += counts[tokens, places][:, None] * _expert(x[tokens], weights, f"experts.{expert}")
    return result


def _expert(x: Array, weights: dict[str, Array], name: str) -> Array:
    return gated(x, *(weights[f"{name}.{part}_proj.weight"] for part in ("gate", "up", "down")))
