"""Parameters of a page's field, one a line, the first right behind what a sentence says."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask, ask_one

REST = "--enable-auto-tool-choice\n--tool-call-parser=hermes\n --tensor-parallel-size 4\n"


@pytest.mark.parametrize("lead", ["在页面上选了Qwen3-32B模型，后端参数填", "参数：", "Backend parameters: "])
def test_they_are_read_and_nothing_is_said_of_the_shell(lead: str) -> None:
    text = f"两台机器，用 vLLM 0.17.0。\n{lead}--max-model-len=65536\n{REST}，然后就卡住了\n"
    judged = ask_one(text, on="")
    assert judged.layout is not None
    assert judged.layout.tp == 4
    assert judged.settings is not None
    assert judged.settings.max_model_len == 65536
    assert not judged.unknown & {"tp", "pp", "dp"}
    assert not read_script(text).problems


def test_the_one_model_of_the_sentence_is_theirs() -> None:
    text = f"在页面上选了Qwen3-32B模型，后端参数填--max-model-len=65536\n{REST}"
    assert "Qwen3-32B" in ask_one(text, on="").commands[0].argv


def test_a_command_of_a_shell_still_lacks_its_backslashes() -> None:
    text = "启动：vllm serve Qwen/Qwen3-32B --port 8000\n--max-model-len=65536\n" + REST
    assert read_script(text).problems


def test_options_that_decide_nothing_are_no_deployment() -> None:
    assert not ask("参数填--enable-auto-tool-choice\n--tool-call-parser=hermes\n--reasoning-parser=qwen3\n")


def test_the_name_of_an_instance_is_that_of_its_model() -> None:
    from moonpad.explain.documents.spoken_models import spoken_model

    assert spoken_model(read_script("qwen3-8b is chosen\nstarting instance qwen3-8b-aXk9Q\n")) == "qwen3-8b"
    assert spoken_model(read_script("Qwen3-Coder and Qwen3-Coder-Next\n")) == "Qwen3-Coder-Next"
