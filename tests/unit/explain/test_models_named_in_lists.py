"""A list of flags that names its model in words is about that model; a draft model in it is not what is served."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one

FLAGS = "- `--tensor-parallel-size 8`\n- `--max-model-len 65536`\n- `--gpu-memory-utilization 0.9`\n"
OTHER = "deepseek-ai/DeepSeek-V4-Flash"
ABOUT = "# Our servers\n\nOn 8x H200 with vLLM 0.20.0, beside moonshotai/Kimi-K2.6.\n\n## Small\n\nvllm runs with:\n\n"


@pytest.mark.parametrize(
    "item",
    [
        f"- model: `{OTHER}`\n",
        f"- **Model**: `{OTHER}`\n",
        f"* Model ID: {OTHER}\n",
        f"- image: `vllm/vllm-openai:v0.20.0`\n- base model: `{OTHER}`.\n",
    ],
)
def test_the_list_names_its_model(item: str) -> None:
    assert ask_one(f"{ABOUT}{item}{FLAGS}").model_written == OTHER
    assert ask_one(f"{ABOUT}{FLAGS}{item}").model_written == OTHER


def test_each_list_has_its_own() -> None:
    lists = f"{ABOUT}- model: `moonshotai/Kimi-K2.6`\n{FLAGS}\n\n## Other\n\n- model: `{OTHER}`\n{FLAGS}"
    assert [each.model_written for each in ask(lists)] == ["moonshotai/Kimi-K2.6", OTHER]


@pytest.mark.parametrize("label", ["Eagle3 speculative head", "draft model", "MTP model"])
def test_a_draft_is_not_what_is_served(label: str) -> None:
    judged = ask_one(f"{ABOUT}- model: `{OTHER}`\n- {label}: `someone/other-eagle3`\n{FLAGS}")
    assert judged.model_written == OTHER
    assert not judged.corrected
    assert [each.where for each in judged.findings if "guesses" in each.message] == ["draft model"]


def test_a_draft_whose_options_are_there() -> None:
    config = '{"method":"mtp","num_speculative_tokens":2}'
    judged = ask_one(f"{ABOUT}- model: `{OTHER}`\n{FLAGS}- MTP speculative config: `{config}`\n")
    (line,) = judged.commands
    assert line.argv[line.argv.index("--speculative-config") + 1] == config


def test_the_name_for_clients() -> None:
    judged = ask_one(f"{ABOUT}- model: `{OTHER}`\n- served model name: `small`\n{FLAGS}")
    (line,) = judged.corrected
    assert line.argv[line.argv.index("--served-model-name") + 1] == "small"


def test_a_list_of_what_options_mean_starts_nothing() -> None:
    text = f"# Options\n\n- model: `{OTHER}`\n- `--port`: where it listens\n- `--host`: of which address\n"
    assert not [each for each in ask(text) if each.layout is not None]
