"""Servers of Chutes, which a Python function builds."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask_one

PROGRAM = """from chutes.chute import NodeSelector
from chutes.chute.template.{engine} import build_{engine}_chute

chute = build_{engine}_chute(
    username="somebody",
    model_name="moonshotai/Kimi-K2-Thinking",
    image="chutes/{engine}:{tag}",
    node_selector=NodeSelector(gpu_count=8, include=["h200"]),
    engine_args=("--trust-remote-code " "{arguments}"),
)
"""


@pytest.mark.parametrize(
    ("engine", "tag", "arguments", "ranks"),
    [
        ("sglang", "0.5.6", "--context-length 65536", 8),
        ("sglang", "0.5.6", "--tp 4", 4),
        ("vllm", "0.12.0", "--max-model-len 65536", 8),
    ],
)
def test_model_devices_and_ranks_of_a_chute(engine: str, tag: str, arguments: str, ranks: int) -> None:
    text = PROGRAM.format(engine=engine, tag=tag, arguments=arguments)
    judged = ask_one(text, on="")
    assert judged.layout is not None
    assert judged.layout.tp == ranks
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "moonshotai/Kimi-K2-Thinking"
    assert judged.cluster is not None
    assert judged.cluster.name == f"{ranks}xH200"
    assert judged.version.startswith(tag)


def test_a_function_of_another_name_starts_nothing() -> None:
    text = PROGRAM.format(engine="sglang", tag="1", arguments="").replace("build_sglang_chute", "build_image_chute")
    assert not [each for each in read_script(text).commands if each.program != "other"]
