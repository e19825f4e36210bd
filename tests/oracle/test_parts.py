"""The parts of the oracle against their definitions, in plain loops or by properties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.attention import absorbed, attend, attend_over, plain, unabsorb
from tests.oracle.experts import gated, mixture, route, sigmoid
from tests.oracle.rotary import frequencies, rotate, softmax_scale, temperature
from tests.oracle.weights import Array

YARN = {
    "type": "yarn",
    "factor": 32.0,
    "original_max_position_embeddings": 4096,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
}
CONFIG: dict[str, Any] = {"qk_nope_head_dim": 6, "qk_rope_head_dim": 64, "rope_theta": 50000.0, "rope_scaling": None}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- rotary ----------------------------------------------------------------------------------------------------------


@given(st.integers(0, 30_000), st.integers(0, 30_000), st.integers(0, 2_000))
def test_only_the_distance_counts(first: int, second: int, shift: int) -> None:
    config = CONFIG | {"rope_scaling": YARN}
    query, key = rng().normal(size=(2, 1, 64))

    def product(at: int, to: int) -> float:
        return float((rotate(query, np.array([at]), config) * rotate(key, np.array([to]), config)).sum())

    assert product(first, second) == pytest.approx(product(first + shift, second + shift), abs=1e-7)


def test_position_0_turns_nothing() -> None:
    vectors = rng().normal(size=(1, 3, 64))
    assert np.allclose(rotate(vectors, np.zeros(1), CONFIG), vectors)


def test_a_turn_by_hand() -> None:
    vectors = np.zeros((1, 64))
    vectors[0, :2] = [1.0, 0.0]
    assert rotate(vectors, np.array([2.0]), CONFIG)[0, :2].tolist() == pytest.approx([math.cos(2.0), math.sin(2.0)])


def test_yarn_leaves_the_fast_and_stretches_the_slow() -> None:
    before, after = frequencies(CONFIG), frequencies(CONFIG | {"rope_scaling": YARN})
    turns = before * YARN["original_max_position_embeddings"] / (2 * math.pi)
    ratio = before / after
    assert ratio[turns > 40].tolist() == pytest.approx([1.0] * int((turns > 40).sum()))
    assert ratio[turns < 0.8].tolist() == pytest.approx([32.0] * int((turns < 0.8).sum()))
    assert (np.diff(ratio) >= 0).all()


def test_temperature() -> None:
    assert temperature(1.0, 1.0) == 1.0
    assert temperature(32.0, 1.0) == pytest.approx(1.3466, abs=1e-4)
    assert softmax_scale(CONFIG) == pytest.approx(70**-0.5)
    assert softmax_scale(CONFIG | {"rope_scaling": YARN}) == pytest.approx(70**-0.5 * temperature(32.0, 1.0) ** 2)


# --- attention -------------------------------------------------------------------------------------------------------


def slowly(queries: Array, keys: Array, values: Array, scale: float) -> Array:
    result = np.zeros((*queries.shape[:2], values.shape[-1]))
    for token in range(len(queries)):
        for head in range(queries.shape[1]):
            scores = [math.exp(scale * float(queries[token, head] @ keys[seen, head])) for seen in range(token + 1)]
            result[token, head] = sum(score * values[seen, head] for seen, score in enumerate(scores)) / sum(scores)
    return result


@pytest.mark.parametrize("ranks", [0, 1, 2, 4, 8, 11])
def test_attention(ranks: int) -> None:
    """In one piece (0), and over ranks, of which some see nothing of the first tokens, or nothing at all."""
    queries, keys = rng(1).normal(size=(2, 9, 2, 5))
    values = rng(2).normal(size=(9, 2, 3))
    attended = (attend_over(ranks) if ranks else attend)(queries, keys, values, 0.4)
    assert np.allclose(attended, slowly(queries, keys, values, 0.4), rtol=1e-12)


def test_large_scores_do_not_overflow() -> None:
    queries = np.full((4, 1, 2), 1000.0)
    values = rng().normal(size=(4, 1, 2))
    for ranks in (1, 2):
        assert np.isfinite(attend_over(ranks)(queries, queries, values, 1.0)).all()


def test_absorbed_is_plain() -> None:
    heads, nope, rope, value, rank, tokens = 3, 6, 4, 5, 8, 7
    up, latent = rng(3).normal(size=(heads, nope + value, rank)), rng(4).normal(size=(tokens, rank))
    key_rope, queries = rng(5).normal(size=(tokens, rope)), rng(6).normal(size=(tokens, heads, nope + rope))
    direct = attend(queries, *plain(latent, key_rope, up, nope), 0.3)
    other = unabsorb(attend(*absorbed(latent, key_rope, up, queries, nope), 0.3), up, nope)
    assert np.allclose(direct, other, rtol=1e-10)


# --- experts ---------------------------------------------------------------------------------------------------------

ROUTING: dict[str, Any] = {
    "n_group": 1,
    "topk_group": 1,
    "num_experts_per_tok": 2,
    "norm_topk_prob": True,
    "routed_scaling_factor": 2.5,
}


def test_the_bias_chooses_and_does_not_count() -> None:
    scores = np.array([[0.9, 0.5, 0.4, 0.1]])
    chosen, weights = route(scores, np.array([0.0, 0.0, 0.2, 0.0]), ROUTING)
    assert chosen.tolist() == [[0, 2]]
    assert weights[0].tolist() == pytest.approx([2.5 * 0.9 / 1.3, 2.5 * 0.4 / 1.3])


def test_groups() -> None:
    """The best expert is in a group whose two best are less than another's."""
    scores = np.array([[0.9, 0.1, 0.6, 0.5]])
    config = ROUTING | {"n_group": 2, "topk_group": 1, "norm_topk_prob": False, "routed_scaling_factor": 1.0}
    chosen, weights = route(scores, np.zeros(4), config)
    assert chosen.tolist() == [[2, 3]]
    assert weights.tolist() == [[0.6, 0.5]]


def test_a_mixture_token_by_token() -> None:
    experts, hidden, inner = 4, 3, 5
    config = ROUTING | {"n_routed_experts": experts, "n_shared_experts": 1}
    names = [f"experts.{number}" for number in range(experts)] + ["shared_experts"]
    shapes = {"gate": (inner, hidden), "up": (inner, hidden), "down": (hidden, inner)}
    weights = {
        f"{name}.{part}_proj.weight": rng(10 * number + place).normal(size=shape)
        for number, name in enumerate(names)
        for place, (part, shape) in enumerate(shapes.items())
    }
    bias = rng(8).normal(size=experts)
    weights |= {"gate.weight": rng(7).normal(size=(experts, hidden)), "gate.e_score_correction_bias": bias}
    x = rng(9).normal(size=(6, hidden))

    def expert(name: str, token: Array) -> Array:
        return gated(token, *(weights[f"{name}.{part}_proj.weight"] for part in ("gate", "up", "down")))

    for token, mixed in zip(x, mixture(x, weights, config), strict=True):
        scores = sigmoid(weights["gate.weight"] @ token)
        best = sorted(range(experts), key=lambda index: -(scores[index] + bias[index]))[:2]
        total = sum(scores[index] for index in best)
        wanted = expert("shared_experts", token) + sum(
            2.5 * scores[index] / total * expert(f"experts.{index}", token) for index in best
        )
        assert np.allclose(mixed, wanted)
