"""Commands of other machines that a text tells of in a sentence are not missing."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import found

SGLANG = (
    "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp-size 16 --trust-remote-code "
    "--nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:20000"
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The other prefill node: the same with `--node-rank` 1.",
        "and the like on the second, with `node-rank` `1.`",
        "Nodes 1 to 3, each with its own number:",
        "With this it works on two nodes of eight H100.",
        "On the second machine the same with another rank.",
        "主节点：",
    ],
)
def test_a_sentence_tells_of_them(sentence: str) -> None:
    assert not found(f"{sentence}\n\n```\n{SGLANG}\n```\n", "waits for the others")
    assert not found(f"```\n{SGLANG}\n```\n\n{sentence}\n", "waits for the others")


@pytest.mark.parametrize("sentence", ["It stops on this node.", "We have two nodes of eight H100.", "What is a rank?"])
def test_other_sentences_do_not(sentence: str) -> None:
    assert found(f"{sentence}\n\n```\n{SGLANG}\n```\n", "waits for the others")


def test_data_parallel_ranks_of_a_main_node() -> None:
    command = (
        "vllm serve vllm-ascend/DeepSeek-V3.1-W8A8 --quantization ascend --data-parallel-size 4 "
        "--data-parallel-size-local 2 --data-parallel-address 10.0.0.1 -tp 4 --enable-expert-parallel"
    )
    assert found(command, "the commands here start 2 of them")
    assert not found(f"主节点：\n\n{command}", "the commands here start")
