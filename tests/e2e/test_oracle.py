"""The oracle (tests/oracle) against what shares no line with it: transformers, torch and compressed-tensors in the
engine's environment, and the real vLLM."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.conftest import CHECKPOINT, Served, in_engine
from tests.e2e.test_numerics import ask
from tests.oracle.model import Model
from tests.oracle.weights import Array, fp8_e4m3, int4_groups
from training.kimi_k2_tiny.chats import scoring_chats
from training.kimi_k2_tiny.rendering import render, render_answer

RELATIVE = 1e-4
AGREEMENT = 0.995
NEAR = 0.5
"""Logits of one token below those of the likeliest, where an engine may still name it first."""


@cache
def oracle() -> Model:
    return Model.of(CHECKPOINT)


def test_logits_are_those_of_transformers(engine_python: Path, tmp_path: Path) -> None:
    """Any tokens will do, so they are drawn: what is right on nonsense is right on chats."""
    rng = np.random.default_rng(5)
    texts = [rng.integers(0, 1024, length).tolist() for length in (1, 2, 65, 500)]
    script = Path(__file__).with_name("reference_logprobs.py")
    job = {"checkpoint": str(CHECKPOINT), "prompts": texts, "logits_to": str(tmp_path)}
    in_engine(engine_python, script, job)
    for number, tokens in enumerate(texts):
        wanted: Array = np.load(tmp_path / f"{number}.npy")
        logits = oracle().logits(tokens)
        difference = np.abs(logits - wanted).max() / np.abs(wanted).max()
        print(len(tokens), difference)
        assert difference <= RELATIVE


def test_stored_numbers_are_those_of_the_libraries(engine_python: Path) -> None:
    rng = np.random.default_rng(6)
    codes = np.arange(256, dtype=np.uint8).reshape(16, 16)
    packed = rng.integers(-(2**31), 2**31, (12, 16)).astype(np.int32)
    scale = rng.normal(size=(12, 4)).astype(np.float32)
    job = {"fp8": codes.tolist(), "int4": {"packed": packed.tolist(), "scale": scale.tolist()}}
    decoded = in_engine(engine_python, Path(__file__).with_name("reference_formats.py"), job)
    assert np.array_equal(np.array(decoded["fp8"], float), fp8_e4m3(codes), equal_nan=True)
    assert np.allclose(decoded["int4"], int4_groups(packed, scale), rtol=1e-12)


def chats(served: Served, positions: int) -> list[tuple[list[int], list[bool]]]:
    """Whole chats of every kind, the right answer included, until the model writes that much in them; and which of the
    tokens it writes."""
    conversations: list[tuple[list[int], list[bool]]] = []
    for chat in scoring_chats(3, 200):
        parts = [render(chat.messages, chat.tools), render_answer(chat.answer)]
        prompt, answer = (tokens_of(served, part) for part in parts)
        conversations.append((prompt + answer, [*written_in(served, prompt), *(True for _ in answer)]))
        if sum(sum(written) for _, written in conversations) >= positions:
            break
    return conversations


def tokens_of(served: Served, text: str) -> list[int]:
    body = {"prompt": text, "add_special_tokens": False}
    return [int(token) for token in ask(served.base_url.removesuffix("/v1"), "/tokenize", body)["tokens"]]


def written_in(served: Served, prompt: list[int]) -> list[bool]:
    """The turns of the assistant that a prompt keeps with their thinking."""
    think, unthink, end = (tokens_of(served, mark)[0] for mark in ("<think>", "</think>", "<|im_end|>"))
    written, inside = [], False
    for token, after in zip(prompt, [*prompt[1:], end], strict=True):
        inside = inside or (token == think and after != unthink)
        written.append(inside)
        inside = inside and token != end
    return written


@pytest.mark.parametrize("positions", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_engine_finds_the_same_token_most_likely(served: Served, positions: int) -> None:
    """Where the model writes. In the made-up words of a question dozens of tokens are as likely as one another, and the
    engine's rounding to bfloat16 decides which is first: there it may name another one, but none that is much less
    likely."""
    same: list[bool] = []
    written: list[bool] = []
    behind: list[float] = []
    for tokens, by_model in chats(served, positions):
        body = {"model": served.model, "prompt": tokens, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 1}
        rows = ask(served.base_url, "/completions", body)["choices"][0]["prompt_logprobs"][1:]
        first = np.array([next(int(token) for token, entry in row.items() if entry["rank"] == 1) for row in rows])
        logits = oracle().logits(tokens)[:-1]
        same += (logits.argmax(axis=-1) == first).tolist()
        behind += (logits.max(axis=-1) - logits[np.arange(len(first)), first]).tolist()
        written += by_model[1:]
    agreed = sum(agrees for agrees, by_model in zip(same, written, strict=True) if by_model)
    print(f"{agreed} of {sum(written)} written, {sum(same)} of {len(same)} in all, {max(behind):.2f} behind at most")
    assert sum(written) >= positions
    assert agreed >= AGREEMENT * sum(written)
    assert max(behind) <= NEAR
