"""Keys of settings that an engine's check refuses: named, where it writes the key above what is wrong with it."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding

START = "trtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --tp_size 8 --extra_llm_api_options extra.yml\n\n"
EXTRA = "  Extra inputs are not permitted [type=extra_forbidden, input_value='TRTLLM', input_type=str]\n"
MORE = "    For further information visit https://errors.pydantic.dev/2.11/v/extra_forbidden\n"
KIND = "  Input should be a valid integer, unable to parse [type=int_parsing, input_value='x', input_type=str]\n"
VALUE = "  Value error, only one of the two may be given [type=value_error, input_value=1, input_type=int]\n"


def stopped(log: str, front: str = "") -> list[Finding]:
    text = START + "".join(f"{front}{line}\n" for line in log.splitlines())
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [finding for finding in findings if "the engine stopped" in finding.message]


@pytest.mark.parametrize("front", ["", "worker-0  | "])
@pytest.mark.parametrize(
    "before",
    [
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for TorchLlmArgs\n",
        "2026-01-05T04:35:52.431366Z ERROR engine.get_llm_engine: Error in engine context: 1 validation error for "
        "LlmArgs\n",
    ],
)
def test_the_key_that_a_release_does_not_take(before: str, front: str) -> None:
    (finding,) = stopped(f"{before}moe_backend\n{EXTRA}{MORE}", front)
    assert "this release takes no moe_backend" in finding.message
    assert finding.remedy.startswith("leave moe_backend out")


def test_each_of_several_keys() -> None:
    before = "pydantic_core._pydantic_core.ValidationError: 3 validation errors for TorchLlmArgs\n"
    (finding,) = stopped(
        f"{before}print_log\n{EXTRA}{MORE}kv_cache_config.tokens_per_block\n{KIND}{MORE}build_config\n{VALUE}"
    )
    assert "takes no print_log; kv_cache_config.tokens_per_block: Input should be a valid integer" in finding.message
    assert "build_config: only one of the two may be given" in finding.message
    assert finding.remedy.endswith("change kv_cache_config.tokens_per_block, build_config")


def test_a_sentence_about_one_key_stands_for_itself() -> None:
    before = "pydantic_core._pydantic_core.ValidationError: 1 validation error for TorchLlmArgs\n"
    assert not [each for each in stopped(f"{before}a_key\n{VALUE}") if "a_key:" in each.message]


def test_requests_are_checked_too_and_end_nothing() -> None:
    before = "pydantic_core._pydantic_core.ValidationError: 1 validation error for ChatCompletionRequest\n"
    assert not [each for each in stopped(f"{before}max_tokens\n{KIND}") if "max_tokens" in each.message]
