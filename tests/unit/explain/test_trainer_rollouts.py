"""A trainer's rollout is an engine inside of it and no server: its options alone are judged."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SLIME = """#!/bin/bash
# slime: GRPO on 4 nodes
PERF_ARGS=(
   --tensor-model-parallel-size 4
   --pipeline-model-parallel-size 2
)
SGLANG_ARGS=(
   --rollout-num-gpus-per-engine 16
   --sglang-mem-fraction-static 0.7
   --sglang-enable-dp-attention
   --sglang-dp-size 8
   --sglang-ep-size 16
#   --sglang-moe-a2a-backend deepep
   --sglang-server-concurrency 1024
)
ray job submit --address="http://127.0.0.1:8265" -- python3 train.py \\
   --hf-checkpoint zai-org/GLM-4.5 \\
   ${PERF_ARGS[@]} ${SGLANG_ARGS[@]}
"""
OPENRLHF = """ray job submit -- python3 -m openrlhf.cli.train_ppo_ray \\
   --vllm_num_engines 4 --vllm_tensor_parallel_size 2 --vllm_gpu_memory_utilization 0.6 \\
   --vllm_enable_sleep --pretrain Qwen/Qwen3-30B-A3B
"""
VERL = """python3 -m verl.trainer.main_ppo \\
    actor_rollout_ref.model.path=moonshotai/Kimi-K2-Instruct \\
    actor_rollout_ref.rollout.name={engine} \\
    actor_rollout_ref.rollout.tensor_model_parallel_size=16 \\
    actor_rollout_ref.rollout.gpu_memory_utilization=0.6 \\
    actor_rollout_ref.rollout.max_num_seqs=64 \\
    trainer.n_gpus_per_node=8 trainer.nnodes=4
"""


def rollout(text: str) -> Judged:
    (judged,) = ask(text)
    assert judged.kind == "rollout"
    return judged


@pytest.mark.parametrize(
    ("text", "engine", "title", "layout", "model"),
    [
        (SLIME, "sglang", "slime", "TP 16, DP 8, EP 16", "zai-org/GLM-4.5"),
        (OPENRLHF, "vllm", "OpenRLHF", "TP 2", "Qwen/Qwen3-30B-A3B"),
        (VERL.format(engine="vllm"), "vllm", "verl", "TP 16", "moonshotai/Kimi-K2-Instruct"),
    ],
)
def test_it_is_said_what_it_is(text: str, engine: str, title: str, layout: str, model: str) -> None:
    judged = rollout(text)
    assert (judged.engine, judged.model_written) == (engine, model)
    assert judged.unjudged.startswith(f"{title} trains a model, and runs ")
    assert f"with {layout}: " in judged.unjudged
    assert not judged.findings


@pytest.mark.parametrize("text", [SLIME, OPENRLHF, VERL.format(engine="vllm")])
def test_nothing_is_proposed_as_the_command_of_a_server(text: str) -> None:
    judged = rollout(text)
    assert (judged.corrected, judged.better, judged.memory, judged.layout) == ((), (), None, None)


def test_the_layout_of_the_training_is_not_that_of_the_rollout() -> None:
    assert "PP" not in rollout(SLIME).unjudged
    assert "TP 4" not in rollout(SLIME.replace("--rollout-num-gpus-per-engine 16", "")).unjudged


def test_a_size_that_only_a_shell_knows_is_not_told() -> None:
    assert "TP" not in rollout(SLIME.replace("per-engine 16", "per-engine ${TP}")).unjudged


@pytest.mark.parametrize(
    ("before", "after", "where", "remedy"),
    [
        ("--sglang-mem-fraction-static", "--sglang-mem-fracton-static", "", "write --sglang-mem-fraction-static"),
        ("--sglang-enable-dp-attention\n", "\n", "--sglang-dp-size", "add --sglang-enable-dp-attention"),
        ("--sglang-dp-size 8", "--sglang-dp-size 6", "--sglang-dp-size", "take a divisor of 16"),
        ("--sglang-ep-size 16", "--sglang-ep-size 6", "--sglang-ep-size", "take a divisor of 16"),
    ],
)
def test_what_is_known_of_its_options_is_a_warning(before: str, after: str, where: str, remedy: str) -> None:
    assert before in SLIME
    (finding,) = rollout(SLIME.replace(before, after)).findings
    assert finding.severity is Severity.WARNING
    assert finding.where == (where or after)
    assert finding.remedy.startswith(remedy)


def test_options_that_may_be_the_trainers_own_are_not_held_against_it() -> None:
    more = "--sglang-server-concurrency 1024\n   --sglang-router-policy random\n   --sglang-weights-checker"
    assert not rollout(SLIME.replace("--sglang-server-concurrency 1024", more)).findings


@pytest.mark.parametrize(
    "text",
    [
        "The option `--sglang-mem-fraction-static` of slime leaves room for the training.\n",
        "python3 train.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size 2\n",
        "actor_rollout_ref.rollout.name=hf actor_rollout_ref.rollout.temperature=1.0\n",
        "# --sglang-dp-size 8\n# --sglang-ep-size 16\n",
    ],
)
def test_a_text_that_hands_an_engine_nothing_is_none(text: str) -> None:
    assert not [judged for judged in ask(text) if judged.kind == "rollout"]


def test_a_server_in_the_text_is_what_is_judged() -> None:
    server = "python3 -m sglang.launch_server --model-path zai-org/GLM-4.5 --tp-size 8\n"
    judged = ask(f"{SLIME}\n{server}")
    assert [each.kind for each in judged] == ["serve"]
    assert judged[0].layout is not None
    assert judged[0].layout.tp == 8
