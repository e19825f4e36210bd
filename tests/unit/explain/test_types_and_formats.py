"""A format of weights behind --dtype: it is left out where the weights are quantised."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve {} --tensor-parallel-size 8 --dtype {} --port 8000\n"


@pytest.mark.parametrize(
    ("model", "given"),
    [
        ("deepseek-ai/DeepSeek-V4-Flash", "fp8"),
        ("Qwen/Qwen3.5-397B-A17B-FP8", "fp8_e4m3"),
        ("moonshotai/Kimi-K2.6", "int4"),
    ],
)
def test_it_is_left_out(model: str, given: str) -> None:
    (judged,) = ask(SERVE.format(model, given))
    (line,) = judged.corrected
    assert "--dtype" not in line.argv
    assert {"--tensor-parallel-size", "--port"} <= set(line.argv)


@pytest.mark.parametrize(
    ("model", "given"),
    [("Qwen/Qwen3-32B", "fp8"), ("/data/own", "fp8"), ("deepseek-ai/DeepSeek-V4-Flash", "bfloat")],
)
def test_of_other_weights_and_words_a_person_chooses(model: str, given: str) -> None:
    (judged,) = ask(SERVE.format(model, given))
    assert any(each.where == "--dtype" and each.severity is Severity.ERROR for each in judged.findings)
    assert judged.corrected == ()


def test_a_parser_of_thoughts_that_lacks_is_in_the_corrected_command() -> None:
    """As one of tool calls is, and both of a family that has one parser for both."""
    text = "python3 -m sglang.launch_server --model-path openai/gpt-oss-120b --tp-size 4 --tool-call-parser gpt-oss\n"
    (judged,) = ask(text)
    (line,) = judged.corrected
    assert line.argv[-2:] == ("--reasoning-parser", "gpt-oss")
