"""What concerns the whole text is said with its first server, also where `ray start` stands above that."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

HEAD = "docker run -d --gpus all --network host --name lead --entrypoint sh {image} -c 'ray start --block --head'\n"
JOINS = "docker run -d --gpus all --network host --entrypoint sh {image} -c 'ray start --block --address=10.1.2.3'\n"
SERVER = "docker exec -it lead bash\nvllm serve Qwen/Qwen3-32B --tensor-parallel-size 8 --port 8111\n"
ABOVE = ["", "ray start --head\n", "lm_eval --tasks gsm8k\n"]


def told(text: str, words: str) -> list[Severity]:
    return [each.severity for one in ask(text) for each in one.findings if words in each.message]


def test_a_tag_of_containers_that_only_start_ray() -> None:
    image = "vllm/vllm-openai:0.9.2"
    assert told((HEAD + JOINS).format(image=image) + SERVER, "begin with a v") == [Severity.WARNING]
    assert not told((HEAD + JOINS).format(image="vllm/vllm-openai:v0.9.2") + SERVER, "begin with a v")


@pytest.mark.parametrize("above", ABOVE)
def test_the_text_is_looked_at_once(above: str) -> None:
    text = f"{above}# image: vllm/vllm-openai:0.8.5\n{SERVER}vllm serve Qwen/Qwen3-8B --port 8112\n"
    assert told(text, "begin with a v") == [Severity.WARNING]
