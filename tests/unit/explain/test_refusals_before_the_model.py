"""What ends the start of releases that never had the model is not told of it: Qwen3.8-Flash-Next came with vLLM 0.29.0,
and Qwen3-Next is in releases before 0.17.0."""

from __future__ import annotations

from tests.unit.explain.judging import ask_one

SERVE = """vllm serve {} --tensor-parallel-size 2 --enable-prefix-caching \
--speculative-config '{{"method":"mtp","num_speculative_tokens":3}}'"""
FORMER = "before 0.17.0 prefixes of models with recurrent states are not kept beside drafts"


def _told(model: str) -> list[str]:
    return [each.message for each in ask_one(SERVE.format(model), on="").findings if FORMER in each.message]


def test_a_model_that_came_later() -> None:
    assert not _told("Qwen/Qwen3.8-Flash-Next-FP8")


def test_a_model_of_those_releases_and_no_release_twice() -> None:
    (message,) = _told("Qwen/Qwen3-Next-80B-A3B-Instruct-FP8")
    assert message.startswith(FORMER)
