"""Drafts of speculative decoding in the memory of a device: the known ones are counted, of others it is said."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.checkpoint import Component
from tests.unit.explain.judging import ask_one

SGLANG = "python -m sglang.launch_server --model-path moonshotai/Kimi-K3 --tp-size 8 --trust-remote-code {}"
VLLM = "vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8 --trust-remote-code {}"
DSPARK = "--speculative-algorithm DSPARK --speculative-draft-model-path RadixArk/Kimi-K3-DSpark {}"


def judged(command: str, on: str = "8xB300") -> Judged:
    return ask_one(command, on=on)


def held(one: Judged) -> int:
    assert one.memory is not None
    return one.memory.weights.get(Component.DRAFT, 0)


def tokens(one: Judged) -> float:
    assert one.memory is not None
    return one.memory.kv_tokens.value


def unsaid(one: Judged) -> bool:
    return any("not counted" in each.message for each in one.findings)


@pytest.mark.parametrize(
    ("options", "proposed"),
    [("--speculative-dspark-block-size 5", 5), ("--speculative-num-draft-tokens 8", 7), ("", 7)],
)
def test_a_draft_that_proposes_blocks_takes_weights_and_cache(options: str, proposed: int) -> None:
    plain, drafted = judged(SGLANG.format("")), judged(SGLANG.format(DSPARK.format(options)))
    assert drafted.settings is not None
    assert drafted.settings.draft_tokens == proposed
    assert held(drafted) > 0.5e9
    assert tokens(drafted) < tokens(plain)
    assert not unsaid(drafted)


@pytest.mark.parametrize("method", ['"method":"dspark",', ""])
@pytest.mark.parametrize("count", ["7", '"7"'])
def test_a_number_in_quotes_and_a_method_left_out(method: str, count: str) -> None:
    config = f'{{{method}"model":"Inferact/Kimi-K3-DSpark","num_speculative_tokens":{count}}}'
    one = judged(VLLM.format(f"--speculative-config '{config}'"))
    assert one.settings is not None
    assert one.settings.draft_tokens == 7
    assert held(one) > 1e9
    assert tokens(one) < tokens(judged(VLLM.format("")))


@pytest.mark.parametrize(
    "options",
    [
        "--speculative-algorithm DFLASH --speculative-draft-model-path /drafts/ours-k3-dflash",
        "--speculative-algorithm EAGLE3 --speculative-draft-model-path /drafts/ours-k3-eagle3 "
        "--speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 16",
    ],
)
def test_of_a_draft_that_is_not_known_it_is_said(options: str) -> None:
    one = judged(SGLANG.format(options))
    assert held(one) == 0
    assert unsaid(one)


def test_without_a_draft_nothing_is_said() -> None:
    assert not unsaid(judged(SGLANG.format("")))
    assert not unsaid(judged(VLLM.format('--speculative-config \'{"method":"ngram","num_speculative_tokens":3}\'')))
