"""What people quote of ik_llama.cpp, and of requests that are longer than the server's context."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def messages(text: str) -> str:
    return "\n".join(each.message for judged in ask(text) for each in judged.findings)


IK = "# ik_llama.cpp\n\n```\n./llama-server -m /m/{} -ngl 99 {}\n```\n\n{}\n"


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        ("Qwen3-235B-A22B-IQ3_K.gguf", "-sm row", True),
        ("Kimi-K2-Instruct-IQ2_KS.gguf", "-sm row", True),
        ("Qwen3-235B-A22B-IQ3_K.gguf", "-sm layer", False),
        ("Llama-3.3-70B-Q4_K_M.gguf", "-sm row", False),
    ],
)
def test_experts_by_rows(model: str, options: str, said: bool) -> None:
    assert ("does not split by rows" in messages(IK.format(model, options, ""))) is said


def test_the_assertion_of_split_buffers() -> None:
    error = 'GGML_ASSERT(!ggml_backend_buffer_is_cuda_split(x) && "mul_mat_id does not support split buffers")'
    assert "does not split the tensors of experts" in messages(IK.format("a.gguf", "", f"```\n{error}\n```"))


@pytest.mark.parametrize(("words", "said"), [("Vision is not working.", True), ("It is fast.", False)])
def test_pictures_that_are_not_seen(words: str, said: bool) -> None:
    assert ("has no part for pictures" in messages(IK.format("gemma-3.gguf", "--mmproj /m/p.gguf", words))) is said


def test_a_prompt_that_is_longer_than_the_context() -> None:
    error = "Error code: 400 - {'message': '"
    error += "The decoder prompt (length 15329) is longer than the maximum model length of 8192.'}"
    text = f"I start it so:\n\n```\nvllm serve Qwen/Qwen2-VL-2B-Instruct --max-model-len 8192\n```\n\n{error}\n"
    assert "longer than the context of 8192 tokens" in messages(text)


@pytest.mark.parametrize(("flag", "newer"), [("-hf", True), ("--no-such-option", False)])
def test_an_option_that_a_newer_build_has(flag: str, newer: bool) -> None:
    text = f"```\nllama-server {flag} a/b-GGUF --port 8012\nerror: invalid argument: {flag}\n```\n"
    remedies = [each.remedy for judged in ask(text) for each in judged.findings if "does not know" in each.message]
    assert any("take a newer build" in remedy for remedy in remedies) is newer
