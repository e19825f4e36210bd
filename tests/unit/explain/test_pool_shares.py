"""Two pools that split attention in different numbers, and models of which a part of the cache is not split anew."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

OSS, NEXT = "openai/gpt-oss-120b", "Qwen/Qwen3-Next-80B-A3B-Instruct"
NIXL = "--disaggregation-transfer-backend nixl"
WORDS = "is not split anew on the way"


def told(prefill: str, decode: str, version: str, model: str = OSS) -> int:
    base = f"python -m sglang.launch_server --model-path {model} --disaggregation-mode"
    judged = ask(f"{base} prefill {prefill}\n\n{base} decode {decode}\n", "", version)
    assert [each.kind for each in judged] == ["prefill", "decode"]
    return sum(WORDS in finding.message for each in judged for finding in each.findings)


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
