"""Reports without a command: what is told of them, and that other texts stay what they are."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

TYPE = "ValueError: The checkpoint you are trying to load has model type `{}` but Transformers does not recognize this"
UNKNOWN_TYPE = "# [Bug]: {} does not start\n\n" + TYPE + " architecture.\n\n{}\n"


def told(text: str) -> tuple[str, str]:
    """The engine, and all that is said; nothing is a deployment."""
    judged = ask(text)
    assert all(each.layout is None and each.kind == "report" for each in judged)
    findings = [finding for each in judged for finding in each.findings]
    return " ".join(each.engine for each in judged), " | ".join(f"{each.where}: {each.message}" for each in findings)


@pytest.mark.parametrize(
    ("text", "engine", "parts"),
    [
        (
            UNKNOWN_TYPE.format("gpt-oss-20b", "gpt_oss", "vllm==0.9.2\ntransformers==4.53.0"),
            "vllm",
            ("Transformers 4.53.0 does not know the type gpt_oss", "vLLM 0.9.2 has no class for gpt-oss-20b"),
        ),
        (
            UNKNOWN_TYPE.format("Qwen3-Next-80B-A3B-Instruct", "qwen3_next", "vllm-ascend version: 0.9.1"),
            "vllm-ascend",
            ("vLLM-Ascend 0.9.1 has no class for Qwen3-Next",),
        ),
        (
            "Qwen3-30B-A3B-FP8 fails on Ada\n\nRuntimeError: Unsupported SM version for FP8 block scaling GEMM\n",
            "tensorrt-llm",
            ("no GEMM for FP8 weights",),
        ),
        (
            "TensorRT-LLM cannot load nvidia/Llama-3.3-70B-Instruct-FP4 on 4xH100\n",
            "tensorrt-llm",
            ("have no FP4 arithmetic",),
        ),
        (
            "vLLM 0.8.5 fails with nvidia/Llama-3.3-70B-Instruct-FP4 on A100\n",
            "vllm",
            ("capability 8.0 have no FP4 arithmetic",),
        ),
    ],
)
def test_a_report_is_judged_by_what_it_names(text: str, engine: str, parts: tuple[str, ...]) -> None:
    found, said = told(text)
    assert found == engine
    assert all(part in said for part in parts)


@pytest.mark.parametrize(
    "text",
    [
        UNKNOWN_TYPE.format("gpt-oss-20b", "gpt_oss", "vllm==0.11.0\ntransformers==4.57.1"),
        UNKNOWN_TYPE.format("a model of ours", "ours", "vllm==0.9.2\ntransformers==4.53.0"),
        "TensorRT-LLM cannot load nvidia/Llama-3.3-70B-Instruct-FP4 on 4xB200\n",
        "vLLM 0.11.0 fails with nvidia/Llama-3.3-70B-Instruct-FP4 on H100\n",
        "TensorRT-LLM serves nvidia/Llama-3.3-70B-Instruct-FP4; H100 and B200 are for other weights.\n",
        "If you get `Unsupported SM version for FP8 block scaling GEMM`, take a later TensorRT-LLM.\n",
        "# Troubleshooting\n\nRuntimeError: Unsupported SM version for FP8 block scaling GEMM\n",
        "Our notes on vLLM 0.9.2, transformers 4.53.0 and gpt-oss-20b.\n",
    ],
)
def test_prose_and_what_is_right_say_nothing(text: str) -> None:
    assert not ask(text)


def test_a_command_is_judged_instead() -> None:
    text = UNKNOWN_TYPE.format("gpt-oss-20b", "gpt_oss", "vllm==0.9.2\n\n```\nvllm serve openai/gpt-oss-20b\n```")
    assert [each.kind for each in ask(text)] == ["serve"]
