"""Builds as a program prints them, beside others that the text names, and pre-releases behind an engine's name."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.text_hints import versions_of
from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    ("text", "engine", "version"),
    [
        ("version: 7713 (4150da9a9)\nThe first bad one is tag b7668.", "llama-cpp", "b7713"),
        ("build: 8001 (0123456789)\nrelease b7990 works", "llama-cpp", "b8001"),
        ("It is tag b7668.", "llama-cpp", "b7668"),
        ("容器版本为 vLLM `0.26.0b2.dev1`、Transformers `5.14.1`。", "vllm", "0.26.0b2.dev1"),
        ("The server is vLLM (0.27.0b1).", "vllm", "0.27.0b1"),
        ("SGLang `0.5.12`", "sglang", "0.5.12"),
    ],
)
def test_the_release_that_runs(text: str, engine: str, version: str) -> None:
    assert versions_of(text)[0].get(engine) == version


def test_two_builds_that_programs_print_name_none() -> None:
    assert not versions_of("version: 7713 (4150da9a9)\nversion: 7600 (0123456789)")[0]


@pytest.mark.parametrize(("version", "severity"), [("0.25.1", "warning"), ("0.26.0b2.dev1", "note")])
def test_what_the_release_behind_a_build_mended_is_not_sure_of_the_build(version: str, severity: str) -> None:
    text = f"vLLM `{version}` on 8x H200:\n\n```\nvllm serve zai-org/GLM-5.2-FP8 -tp 8 --kv-cache-dtype fp8\n```\n"
    findings = [each for judged in ask(text) for each in judged.findings]
    (told,) = [each for each in findings if "FlashMLA's sparse attention" in each.message]
    assert told.severity == severity


def test_a_card_that_the_catalogue_does_not_have_is_named() -> None:
    listed = "ggml_vulkan: 0 = AMD Radeon RX 580 Series (RADV POLARIS10)"
    text = f"{listed}\n\n```\nllama-server -m Kimi-K2.5-Q4_K_M.gguf\n```\n"
    (judged,) = ask(text)
    assert "RX 580" in judged.cluster_because
