"""Devices that a text names for what it was made from, and weights whose folder tells another format."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

ADAPTED = """#!/usr/bin/env bash
if [[ "$SLURM_NNODES" -ne 8 ]]; then
  echo "The launcher requires exactly 8 four-GPU GB200 nodes" >&2
  exit 2
fi
# Each node has one rank.
# {comment}
# CUDA graphs are disabled for first bring-up.
python3 -m sglang.launch_server --model-path /m/Kimi-K3 --tp-size 32 --ep-size 32 --nnodes 8 \\
  --node-rank "$SLURM_PROCID" --dist-init-addr "$MASTER_ADDR:20000"
"""


@pytest.mark.parametrize(
    "comment",
    [
        "This adapts SGLang's published 32-GPU H100 TP32/EP32 profile to this cluster.",
        "Derived from the official 32x H100 recipe.",
        "Based on the upstream H100 configuration with 32 devices.",
    ],
)
def test_devices_of_what_a_script_was_made_from(comment: str) -> None:
    (judged,) = ask(ADAPTED.format(comment=comment))
    assert judged.cluster is not None
    assert judged.cluster.name == "8x4xGB200"


@pytest.mark.parametrize(
    "name",
    ["Kimi-K3-w1", "Kimi-K3-QSRT-K2", "Kimi-K3-1bit", "Kimi-K2.5-REAP-50", "Kimi-K2.5-pruned", "Kimi-K2-Instruct-3bit"],
)
def test_weights_of_other_bits_are_not_counted(name: str) -> None:
    (judged,) = ask(f"vllm serve /models/{name} -tp 8\n", on="8xH100")
    assert judged.memory is None
    assert "whose weights are not" in judged.unjudged


@pytest.mark.parametrize("name", ["Kimi-K2.5-INT4", "Kimi-K2.5-W4A16", "Kimi-K2.5-4bit", "Kimi-K2.5"])
def test_weights_of_the_same_bits_are(name: str) -> None:
    (judged,) = ask(f"vllm serve /models/{name} -tp 8\n", on="8xH200")
    assert judged.memory is not None


@pytest.mark.parametrize("added", ["--dcp-size 8", "--enable-symm-mem"])
def test_ranks_of_one_machine_whatever_a_condition_adds(added: str) -> None:
    text = (
        "# GB300\nARGS=(--model-path /m/Kimi-K3 --tp-size 8 --port 30000)\n"
        f'if [[ "${{X:-0}}" == "1" ]]; then\n  ARGS+=( {added} )\nelse\n  ARGS+=( --disable-cuda-graph )\nfi\n'
        'exec python3 -m sglang.launch_server "${ARGS[@]}"\n'
    )
    assert any(each.where == "--nnodes" for judged in ask(text) for each in judged.findings)
    joined = text.replace(added, "--nnodes 2 --node-rank $RANK --dist-init-addr $ADDR")
    assert not [each for judged in ask(joined) for each in judged.findings if each.where == "--nnodes"]
