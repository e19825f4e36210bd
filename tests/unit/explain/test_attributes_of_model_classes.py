"""An attribute that the class of a model lacks: the option that asks for it is told, not packages of other releases."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one, first_line

SERVE = (
    "TensorRT-LLM v1.3.0rc17, 4xB300\n```bash\n"
    "trtllm-serve nvidia/Kimi-K2.6-NVFP4 --tp_size 4 --ep_size 4 --trust_remote_code\n```\n"
)
PADDED = "AttributeError: 'KimiK25ForConditionalGeneration' object has no attribute 'vocab_size_padded'"
VLLM = "On 8xH200:\n```\nvllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code\n```\n"


def failure(text: str) -> str:
    (only,) = [each for each in ask_one(text).findings if each.code is Code.LOGGED_FAILURE]
    assert only.severity is Severity.WARNING
    return only.message


def test_guided_decoding_is_told_first() -> None:
    assert "guided_decoding_backend" in failure(f"{SERVE}{PADDED}\n")
    assert first_line(f"{SERVE}{PADDED}\n").startswith("Stopped (line 5): guided decoding")


def test_with_its_option_file_the_thread_is_named() -> None:
    text = f"llm.yaml:\n```yaml\nguided_decoding_backend: xgrammar\n```\n{SERVE}{PADDED}\n"
    text = text.replace("--trust_remote_code", "--trust_remote_code --extra_llm_api_options llm.yaml")
    assert "TensorRT-LLM#15179" in failure(text)
    assert "15182" not in failure(text)


@pytest.mark.parametrize("name", ["Qwen3VLForConditionalGeneration", "LlamaForCausalLM"])
def test_another_attribute_of_a_model_class(name: str) -> None:
    message = failure(f"{VLLM}AttributeError: '{name}' object has no attribute 'get_eagle3_layers'\n")
    assert name in message
    assert "get_eagle3_layers" in message
    assert "packages" not in message


@pytest.mark.parametrize("name", ["Qwen2Tokenizer", "NoneType"])
def test_other_things_than_models_may_be_of_other_packages(name: str) -> None:
    assert "packages" in failure(f"{VLLM}AttributeError: '{name}' object has no attribute 'all_special_tokens_x'\n")
