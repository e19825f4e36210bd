"""Sequences that a server runs at once: by its limit, beside the room of its cache and what a benchmark sends."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, first_line

SERVER = "On 8x H200:\n\n```bash\nvllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code {}\n```\n"
EVALUATION = "\n```bash\nlm_eval --model local-completions --model_args model=x,num_concurrent={} --tasks gsm8k\n```\n"
MEASURED = "\n```bash\nvllm bench serve --model m --max-concurrency {}\n```\n"
RECIPE = """name: two-pools
model:
  path: nvidia/Kimi-K2.5-NVFP4
resources:
  gpu_type: b200
  gpus_per_node: 8
  prefill_nodes: 1
  prefill_workers: 1
  decode_nodes: {workers}
  decode_workers: {workers}
  gpus_per_decode: 8
backend:
  type: trtllm
  trtllm_config:
    prefill:
      max_batch_size: 4
      max_seq_len: 8448
      tensor_parallel_size: 8
    decode:
      enable_attention_dp: true
      max_batch_size: 16
      max_seq_len: 8448
      moe_expert_parallel_size: 8
      tensor_parallel_size: 8
benchmark:
  concurrencies: {asked}
"""


def waiting(text: str) -> list[str]:
    found = [each for one in ask(text) for each in one.findings if "in its queue" in each.message]
    return [each.message for each in found]


@pytest.mark.parametrize(
    ("options", "asked", "said"),
    [
        ("-tp 8 --max-num-seqs 64", 200, "136 wait"),
        ("-tp 8 --max-num-seqs 64", 64, ""),
        ("-tp 1 -dp 8 --max-num-seqs 64", 200, ""),
        ("-tp 8", 2000, ""),
        ("-tp 8 $MORE --max-num-seqs 64", 200, ""),
    ],
)
def test_an_evaluation_that_sends_more_than_the_server_runs(options: str, asked: int, said: str) -> None:
    messages = waiting(SERVER.format(options) + EVALUATION.format(asked))
    assert [said in message for message in messages] == ([True] if said else [])


def test_several_numbers_are_a_sweep() -> None:
    assert not waiting(SERVER.format("-tp 8 --max-num-seqs 64") + EVALUATION.format(32) + EVALUATION.format(200))


@pytest.mark.parametrize(("ranks", "said"), [("-tp 8", 1), ("-tp 2 -dp 4", 0)])
def test_each_data_parallel_rank_has_the_limit_of_a_measured_server(ranks: str, said: int) -> None:
    assert len(waiting(SERVER.format(f"{ranks} --max-num-seqs 16") + MEASURED.format(64))) == said


@pytest.mark.parametrize(
    ("asked", "workers", "said"),
    [("[200, 400]", 1, "72 wait"), ("\n  - 200", 1, "72 wait"), ("'128x256'", 1, ""), ("[200]", 2, "")],
)
def test_a_recipe_whose_workers_run_fewer(asked: str, workers: int, said: str) -> None:
    messages = waiting(RECIPE.format(asked=asked, workers=workers))
    assert [said in message for message in messages] == ([True] if said else [])


def test_the_first_line_says_the_limit_and_the_room_of_all_replicas() -> None:
    line = first_line(SERVER.format("-dp 8 --enable-expert-parallel --max-model-len 4096 --max-num-seqs 4"))
    assert "in each of 8 replicas, at most 32 sequences at once; there is room for" in line


def test_without_a_limit_it_says_the_room_alone() -> None:
    line = first_line(SERVER.format("-tp 8 --max-model-len 4096"))
    assert "sequences of 4,096" in line
    assert "at once" not in line
    assert "in all" not in line
