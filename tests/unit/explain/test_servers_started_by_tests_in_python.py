"""`RemoteOpenAIServer(model, arguments)` in a test of an engine, with what the test is called with."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

TEST = """\
import pytest
from tests.utils import RemoteOpenAIServer

MODELS = ["deepseek-ai/DeepSeek-R1"]
SIZES = {sizes}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("tp_size", SIZES)
def test_models(model: str, tp_size: int) -> None:
    env_dict = {{"OMP_NUM_THREADS": "1"}}
    server_args = [
        "--tensor-parallel-size", str(tp_size), "--max-model-len", "4096",
        "--hf-overrides", '{{"a": true, '
        '"b": 1}}',
    ]
    with RemoteOpenAIServer(model, server_args, env_dict=env_dict) as server:
        assert server
"""


def test_the_command_is_whole() -> None:
    (command,) = read_script(TEST.format(sizes="[8]")).commands
    words = [word.text for word in command.argv]
    assert command.program == "vllm serve"
    assert words[:3] == ["deepseek-ai/DeepSeek-R1", "--tensor-parallel-size", "8"]
    assert words[-1] == '{"a": true, "b": 1}'
    assert command.env["OMP_NUM_THREADS"].text == "1"


def test_no_shell_reads_its_objects() -> None:
    assert not any(
        "shell" in finding.message for judged in ask(TEST.format(sizes="[8]")) for finding in judged.findings
    )


@pytest.mark.parametrize("sizes", ["[4, 8]", "sizes()", "[]"])
def test_a_size_of_several_is_not_known(sizes: str) -> None:
    (command,) = read_script(TEST.format(sizes=sizes)).commands
    assert [bool(word.unresolved) for word in command.argv][2]
    (judged,) = ask(TEST.format(sizes=sizes))
    assert "tp" in judged.unknown


def test_another_class_of_that_form_starts_nothing() -> None:
    text = TEST.format(sizes="[8]").replace("RemoteOpenAIServer", "Proxy")
    assert not any(command.program == "vllm serve" for command in read_script(text).commands)
