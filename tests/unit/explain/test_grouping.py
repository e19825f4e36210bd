"""Which commands are one deployment."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.node_labels import node_in
from moonpad.explain.grouping import group, model_of, value_of
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask


def shape(text: str) -> list[tuple[str, list[int]]]:
    """The kind of each group and the lines of its commands."""
    return [(part.kind, [command.line for command in part.commands]) for part in group(read_script(text).commands)]


SGLANG = "python -m sglang.launch_server --model-path m --dist-init-addr a:1 --nnodes 2 --tp 16"
TOGETHER = {
    "headless": "vllm serve m -dp 16\nvllm serve m --headless -dp 16\n",
    "start ranks": "vllm serve m -dp 16\nvllm serve m --headless -dp 16 --data-parallel-start-rank 8\n",
    "the later rank first": "vllm serve m --headless --node-rank 1\nvllm serve m --node-rank 0\n",
    "node ranks": "vllm serve m --nnodes 2 --node-rank 0\nvllm serve m --nnodes=2 --node_rank=1 --headless\n",
    "labels": "# node 0\nvllm serve m\n# node 1\nvllm serve m\n",
    "sglang": f"{SGLANG} --node-rank 0\n{SGLANG} --node-rank 1\n",
    "another address by mistake": f"{SGLANG} --node-rank 0\n{SGLANG.replace('a:1', 'b:1')} --node-rank 1\n",
    "another command between": "vllm serve m\nsleep 3\ncurl x\nvllm serve m --headless\n",
}
APART = {
    "twice the same": "vllm serve m\nvllm serve m\n",
    "two ports": "vllm serve m --port 1\nvllm serve m --port 2\n",
    "other models": "vllm serve m\nvllm serve n --headless\n",
    "other layouts": "vllm serve m -tp 8\nvllm serve m -tp 16 --headless\n",
    "other engines": f"vllm serve m\n{SGLANG} --node-rank 1\n",
    "other addresses": f"{SGLANG}\n{SGLANG.replace('a:1', 'b:1')}\n",
    "the same rank": f"{SGLANG} --node-rank 0\n{SGLANG} --node-rank 0\n",
    "the same unknown rank": f"{SGLANG} --node-rank $R\n{SGLANG} --node-rank $R\n",
}


@pytest.mark.parametrize("name", TOGETHER)
def test_together(name: str) -> None:
    ((kind, lines),) = shape(TOGETHER[name])
    assert (kind, len(lines)) == ("serve", 2)


@pytest.mark.parametrize("name", APART)
def test_apart(name: str) -> None:
    assert [len(lines) for _, lines in shape(APART[name])] == [1, 1]


def test_three_nodes() -> None:
    text = "".join(f"vllm serve m --nnodes 3 --node-rank {rank}\n" for rank in range(3))
    assert shape(text) == [("serve", [1, 2, 3])]


def test_a_loop_over_nodes() -> None:
    assert shape('for R in 0 1; do\nssh n$R "vllm serve m --nnodes 2 --node-rank $R"\ndone\n') == [("serve", [2, 2])]


def test_the_other_kinds() -> None:
    assert shape(
        "ray start --head\nvllm serve m\nvllm bench serve --model m\nlm_eval --tasks x\n"
        "docker run i bash\npip install x\n"
    ) == [("ray", [1]), ("serve", [2]), ("client", [3]), ("client", [4]), ("container", [5])]


def test_disaggregated_systems() -> None:
    def server(role: str, rank: int = 0) -> str:
        return f"{SGLANG} --disaggregation-mode {role} --node-rank {rank}\n"

    text = (
        server("prefill")
        + server("prefill", 1)
        + server("decode")
        + "sglang-router launch --pd-disaggregation\n"
        + server("prefill")
        + server("decode")
        + "vllm serve m\nsglang-router launch --worker-urls u\n"
        """vllm serve m --kv-transfer-config '{"kv_connector": "N", "kv_role": "kv_producer"}'\n"""
        """vllm serve m --kv-transfer-config '{"kv_connector": "N", "kv_role": "kv_consumer"}'\n"""
    )
    groups = group(read_script(text).commands)
    assert [(part.kind, len(part.commands)) for part in groups] == [
        ("prefill", 2),
        ("decode", 1),
        ("router", 1),
        ("prefill", 1),
        ("decode", 1),
        ("serve", 1),
        ("router", 1),
        ("prefill", 1),
        ("decode", 1),
    ]


@pytest.mark.parametrize(
    ("label", "node"),
    [
        ("node 0", 0),
        ("Node 1:", 1),
        ("on host2", 2),
        ("machine #3", 3),
        ("the head node", 0),
        ("on the worker node", 1),
        ("start ray on node 0 and node 1", None),
        ("for prefill node", None),
        ("first, install it", None),
        ("", None),
    ],
)
def test_nodes_in_comments(label: str, node: int | None) -> None:
    assert node_in(label) == node


def test_values_of_flags() -> None:
    (command,) = read_script("vllm serve --a 1 --b-c=2 --b_c 3 -d 4 --last\n").commands
    given = {name: value_of(command.argv, (name,)) for name in ("--a", "--b-c", "-d", "--last", "--none")}
    assert {name: word.text if word else None for name, word in given.items()} == {
        "--a": "1",
        "--b-c": "3",
        "-d": "4",
        "--last": None,
        "--none": None,
    }
    assert model_of(command) is None


def test_words_about_another_command_are_no_deployment() -> None:
    whole, sketch = (
        "```\nvllm serve Qwen/Qwen3-32B -tp 2\n```\n",
        "```\nvllm serve ... --enable-auto-tool-choice {}\n```\n",
    )
    assert len(ask(whole + sketch.format("--tool-call-parser hermes"))) == 1
    assert len(ask(whole + sketch.format("--tool-call-parser no_such_parser"))) == 2
    assert len(ask(sketch.format("--tool-call-parser hermes"))) == 1
