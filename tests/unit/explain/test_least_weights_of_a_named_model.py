"""`<model-path>` below a title that names the model: its weights take four bits each at the least."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve <model-path> --tensor-parallel-size 8 --quantization ascend --max-model-len 8192"
# 2.78e12 weights at half a byte, by the sizes of its config.json.
GIB_OF_K3 = "1,295 GiB at 4 bits"


def told(text: str) -> list[str]:
    return [
        finding.message
        for judged in ask(text)
        for finding in judged.findings
        if "at 4 bits" in finding.message and finding.severity is Severity.WARNING
    ]


@pytest.mark.parametrize(
    "title",
    [
        "# Kimi K3 on Atlas 800T A2 (8 x 64 GB), vLLM-Ascend",
        "# Kimi K3, vLLM-Ascend",  # no devices of Ascend would do
        "# Kimi K3 W4A8 部署\n\n2 x 8 x Atlas 800T A2 (64 GB)\n\n> 参考 Kimi-K2.5",
    ],
)
def test_weights_that_cannot_be_there(title: str) -> None:
    (message,) = told(f"{title}\n\n```bash\n{SERVE}\n```\n")
    assert GIB_OF_K3 in message


@pytest.mark.parametrize(
    "text",
    [
        f"# Kimi K2.5 on 16 x Atlas 800T A3, vLLM-Ascend\n\n```bash\n{SERVE.replace(' 8 ', ' 16 ')}\n```\n",  # 478 GiB
        f"# Kimi K3 or Kimi-K2.5 on Atlas 800T A2\n\n```bash\n{SERVE}\n```\n",
        f"# A distilled Kimi K3 on 8 x Atlas 800T A2\n\n```bash\n{SERVE}\n```\n",
        f"# Kimi K3, a pruned one, on 8 x Atlas 800T A2\n\n```bash\n{SERVE}\n```\n",
        f"# Kimi K3 on 8 x A2\n\n```bash\n{SERVE.replace('<model-path>', '/data/small-dense')}\n```\n",
        f"# Kimi K3 on 8 x A2\n\n```bash\n{SERVE} --load-format dummy\n```\n",
        f"# Kimi K3 on 8 x A2\n\n```bash\n{SERVE}\n```\n\n```\nINFO: Application startup complete.\n"
        "INFO GPU KV cache size: 123,456 tokens\n```\n",
    ],
)
def test_what_may_be_there(text: str) -> None:
    assert not told(text)


CONVERTED = (
    "vllm serve {model} --tensor-parallel-size {tp} --pipeline-parallel-size {pp} --max-model-len 8192\n# {on}\n"
)
# 1.0269e12 weights by the config.json of Kimi-K2.6: half a byte each is 478 GiB, with a scale of 16 bits for each 128
# of them 493 GiB.


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("/models/Kimi-K2.6-AWQ", "493 GiB at 4.125 bits"),
        ("/models/Kimi-K2.6-GPTQ-Int4", "493 GiB at 4.125 bits"),
        ("/data/Kimi-K2-Instruct-W4A16", "493 GiB at 4.125 bits"),
        ("/data/Kimi-K2-Instruct-int4", "478 GiB at 4 bits"),
        ("someone/Kimi-K2.6-AWQ-4bit", "478 GiB at 4 bits"),
    ],
)
def test_a_conversion_is_named_after_its_model(model: str, least: str) -> None:
    text = CONVERTED.format(model=model, tp=2, pp=5, on="10 x A40, two machines with 5 each (2x5xA40)")
    (message,) = [
        each.message for judged in ask(text) for each in judged.findings if "in another format" in each.message
    ]
    assert least in message
    assert "10 devices of A40" in message


@pytest.mark.parametrize(
    "text",
    [
        CONVERTED.format(model="/models/Kimi-K2.6-AWQ", tp=8, pp=1, on="8xH100"),  # 0.92 of 632 GiB
        CONVERTED.format(model="/models/Kimi-K2.6-REAP-AWQ", tp=4, pp=1, on="4xH100"),
        CONVERTED.format(model="/models/DeepSeek-R1-Distill-Qwen-32B-AWQ", tp=1, pp=1, on="1xH100"),
        CONVERTED.format(model="/models/Kimi-K2.6-AWQ-pruned-half", tp=4, pp=1, on="4xH100"),
        # 671e9 weights of its layers, 322 GiB, and no layer for multi-token prediction.
        CONVERTED.format(model="/models/DeepSeek-R1-AWQ", tp=8, pp=1, on="8xL40S"),
    ],
)
def test_what_has_room_or_another_size(text: str) -> None:
    assert not [each for judged in ask(text) for each in judged.findings if "in another format" in each.message]


def test_a_part_of_the_machines_that_are_counted() -> None:
    (judged,) = ask(CONVERTED.format(model="/models/Kimi-K2.6-AWQ", tp=2, pp=6, on="2x7xA40"))
    assert judged.cluster is not None
    assert judged.cluster.name == "2x6xA40"


def of_one_node(text: str) -> list[str]:
    return [each.message for judged in ask(text) for each in judged.findings if "one node alone" in each.message]


PLACED = "# Kimi K2.5\n\n## C: the largest\n\n```\n{words}\n```\n\n```bash\n{command}\n```\n"
ALONE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code"


@pytest.mark.parametrize("words", ["8 nodes x 8 x H200", "硬件: 8 节点 × 8 × H200"])
def test_a_layout_of_one_of_the_nodes_that_are_counted(words: str) -> None:
    (message,) = of_one_node(PLACED.format(words=words, command=ALONE))
    assert "64 devices" in message
    assert "8 ranks" in message


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("8 x H200", ALONE),
        ("2 nodes x 8 x H200", f"{ALONE} --pipeline-parallel-size 2"),
        ("2 nodes x 8 x H200", f"{ALONE} --nnodes 2 --node-rank 0"),
        ("2 nodes x 8 x H200, start it on each node", ALONE),
        ("2 nodes x 8 x H200\nOn every node:", ALONE),
        ("2 nodes x 8 x H200", f"{ALONE} --port 1 &\n{ALONE} --port 2"),
    ],
)
def test_layouts_and_starts_of_all_nodes(words: str, command: str) -> None:
    assert not of_one_node(PLACED.format(words=words, command=command))
