"""A comment that names several families, as examples, names the model of none of the starts below it."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "vllm serve /checkpoint -tp 8 --max-model-len 32768\n"


@pytest.mark.parametrize(
    "line",
    [
        "#   thinking -> Kimi K2.6, DeepSeek V3.2/V4",
        "# e.g. DeepSeek-V3 or Kimi-K2.6",
        "# for Kimi-K2.6 / Qwen3.5 and others",
    ],
)
def test_a_list_of_families_names_no_model(line: str) -> None:
    (judged,) = ask(f"# 8x H200\n{line}\n{START}")
    assert judged.checkpoint is None


@pytest.mark.parametrize("line", ["# Kimi K2.6 on eight devices", "# Kimi-K2.6, eight devices"])
def test_one_name_is_the_model(line: str) -> None:
    (judged,) = ask(f"# 8x H200\n{line}\n{START}")
    assert judged.checkpoint is not None
    assert judged.checkpoint.name.endswith("Kimi-K2.6")
