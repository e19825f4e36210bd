"""Two pools that split attention in different numbers, and models of which a part of the cache is not split anew."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

OSS, NEXT = "openai/gpt-oss-120b", "Qwen/Qwen3-Next-80B-A3B-Instruct"
NIXL = "--disaggregation-transfer-backend nixl"
WORDS = "is not split anew on the way"
SLOW = "token by token and layer by layer"


def told(prefill: str, decode: str, version: str, model: str = OSS, words: str = WORDS) -> int:
    base = f"python -m sglang.launch_server --model-path {model} --disaggregation-mode"
    judged = ask(f"{base} prefill {prefill}\n\n{base} decode {decode}\n", "", version)
    assert [each.kind for each in judged] == ["prefill", "decode"]
    return sum(words in finding.message for each in judged for finding in each.findings)


@pytest.mark.parametrize(
    ("prefill", "decode", "version", "expected"),
    [
        (f"--tp 1 {NIXL}", f"--tp 4 {NIXL}", "0.5.16", 1),
        ("--tp 4", "--tp 2", "0.5.16", 1),
        ("--tp 2", "--tp 2", "0.5.16", 0),
        ("--tp 4 --disable-hybrid-swa-memory", "--tp 2 --disable-hybrid-swa-memory", "0.5.16", 0),
        ("--tp 4", "--tp 2", "0.5.22", 0),
        ("--tp 4", "--tp 2", "0.5.7", 0),
        ("--tp $P", "--tp 2", "0.5.16", 0),
        ("--tp 4 --disaggregation-transfer-backend ascend", "--tp 2", "0.5.16", 0),
    ],
)
def test_windows_of_two_sizes(prefill: str, decode: str, version: str, expected: int) -> None:
    assert told(prefill, decode, version) == expected


@pytest.mark.parametrize(
    ("options", "version", "expected"),
    [("", "0.5.8", 1), ("", "0.5.9", 0), (NIXL, "0.5.10", 1), (NIXL, "0.5.11", 0)],
)
def test_recurrent_layers_of_two_sizes(options: str, version: str, expected: int) -> None:
    decode = f"--tp 2 --dp 2 --enable-dp-attention {options}"
    assert told(f"--tp 2 {options}", decode, version, NEXT) == expected


@pytest.mark.parametrize("model", ["Qwen/Qwen3-32B", "deepseek-ai/DeepSeek-V3.1", "$MODEL"])
def test_other_models(model: str) -> None:
    assert not told("--tp 4", "--tp 2", "0.5.16", model)


@pytest.mark.parametrize(
    ("prefill", "decode", "version", "model", "expected"),
    [
        ("--tp 4", "--tp 2", "0.5.6", "Qwen/Qwen3-32B", 1),
        ("--tp 2", "--tp 2", "0.5.6", "Qwen/Qwen3-32B", 0),
        ("--tp 4", "--tp 2", "0.5.6", "deepseek-ai/DeepSeek-V3.1", 0),
        (f"--tp 4 {NIXL}", f"--tp 2 {NIXL}", "0.5.6", "Qwen/Qwen3-32B", 0),
        ("--tp 4", "--tp 2", "0.5.23", OSS, 1),
        ("--tp 4", "--tp 2", "0.5.6", "$MODEL", 0),
    ],
)
def test_heads_one_by_one(prefill: str, decode: str, version: str, model: str, expected: int) -> None:
    assert told(prefill, decode, version, model, SLOW) == expected


def test_heads_gathered() -> None:
    base = "SGLANG_DISAGG_STAGING_BUFFER=1 python -m sglang.launch_server --model-path Qwen/Qwen3-32B"
    text = f"{base} --disaggregation-mode prefill --tp 4\n\n{base} --disaggregation-mode decode --tp 2\n"
    assert not any(SLOW in finding.message for each in ask(text, "", "0.5.14") for finding in each.findings)
