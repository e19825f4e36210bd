"""`--quantization` against the weights, of the engines that compare the two."""

from __future__ import annotations

import pytest

from moonpad.catalog.quantization_flags import methods_of_name, named_formats, quantization_flags
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

ERROR, WARNING = Severity.ERROR, Severity.WARNING
SERVE = "sglang serve --model-path {} --tp-size 8 --quantization {}"
SIGNS = ("refuses another method", "does not convert weights")


def said(text: str, version: str = "0.5.9") -> list[Severity]:
    judged = ask(text, "8xH200", version)
    return [
        finding.severity
        for each in judged
        for finding in each.findings
        if any(sign in finding.message for sign in SIGNS)
    ]


@pytest.mark.parametrize(
    ("model", "method", "version", "expected"),
    [
        ("deepseek-ai/DeepSeek-V3.1", "awq", "0.5.9", [ERROR]),
        ("deepseek-ai/DeepSeek-V3.1", "w8a8_int8", "0.5.9", [ERROR]),
        ("deepseek-ai/DeepSeek-V3.1", "w4afp8", "0.5.9", [ERROR]),
        ("deepseek-ai/DeepSeek-V3.1", "modelopt_fp4", "0.5.9", [ERROR]),
        ("deepseek-ai/DeepSeek-V3.1", "modelopt_fp4", "0.5.18", []),
        ("deepseek-ai/DeepSeek-V3.1", "fp8", "0.5.9", []),
        ("moonshotai/Kimi-K2-Thinking", "fp8", "0.5.9", [ERROR]),
        ("moonshotai/Kimi-K2-Thinking", "compressed-tensors", "0.5.9", []),
        ("moonshotai/Kimi-K2.5", "fp8", "0.5.9", [WARNING]),
        ("Qwen/Qwen3-32B-FP8", "awq", "0.5.9", [ERROR]),
        ("Qwen/Qwen3-32B-FP8", "fp8", "0.5.9", []),
        ("Qwen/Qwen3-32B", "awq", "0.5.9", [ERROR]),
        ("Qwen/Qwen3-32B", "gptq_marlin", "", [ERROR]),
        ("Qwen/Qwen3-32B", "modelopt_fp4", "0.5.9", [ERROR]),
        ("Qwen/Qwen3-32B", "modelopt_fp4", "0.5.20", []),
        ("Qwen/Qwen3-32B", "fp8", "0.5.9", []),
        ("Qwen/Qwen3-32B", "w8a8_int8", "0.5.9", []),
        ("Qwen/Qwen3-32B-AWQ", "fp8", "0.5.9", [WARNING]),
        ("Qwen/Qwen3-32B-AWQ", "gptq", "0.5.9", [WARNING]),
        ("Qwen/Qwen3-32B-AWQ", "awq_marlin", "0.5.9", []),
        ("/models/Qwen3-32B-GPTQ-Int4", "awq", "0.5.9", [WARNING]),
        ("/models/Qwen3-32B-GPTQ-Int4", "moe_wna16", "0.5.9", []),
        ("/models/Qwen3-32B-AWQ", "compressed-tensors", "0.5.9", []),
        ("/models/Qwen3-32B", "awq", "0.5.9", []),
        ("nvidia/DeepSeek-R1-FP4", "modelopt_fp4", "0.5.9", []),
        ("nvidia/DeepSeek-R1-FP4", "fp8", "0.5.9", []),
        ("/models/DeepSeek-R1", "awq", "0.5.9", []),
        ("RedHatAI/Qwen3-32B-FP8-dynamic", "w8a8_fp8", "0.5.9", []),
        ("openai/gpt-oss-120b", "fp8", "0.5.9", [WARNING]),
        ("openai/gpt-oss-120b", "mxfp4", "0.5.9", []),
        ("unsloth/gpt-oss-120b-BF16", "fp8", "0.5.9", []),
        ("someone/Some-7B-BF16", "gptq", "0.5.9", [WARNING]),
        ("someone/Some-7B-NVFP4-FP8", "awq", "0.5.9", []),
        ("$MODEL", "awq", "0.5.9", []),
        ("deepseek-ai/DeepSeek-V3.1", "$METHOD", "0.5.9", []),
    ],
)
def test_methods_and_weights(model: str, method: str, version: str, expected: list[Severity]) -> None:
    assert said(SERVE.format(model, method), version) == expected


def test_of_releases_that_were_not_read_nothing_is_said() -> None:
    assert not said(SERVE.format("deepseek-ai/DeepSeek-V3.1", "awq"), "0.4.1")


def test_recipes_are_quiet() -> None:
    recipe = (
        "sglang serve --model-path nvidia/DeepSeek-R1-0528-FP4 --tp 4 --quantization modelopt_fp4 --trust-remote-code"
    )
    assert not said(recipe, "0.5.5")
    assert not said("sglang serve --model-path unsloth/DeepSeek-R1-BF16 --tp 16 --quantization fp8")


@pytest.mark.parametrize(
    ("model", "method", "version", "expected"),
    [
        ("Qwen/Qwen3-32B", "awq", "0.32.0", [ERROR]),
        ("Qwen/Qwen3-32B", "fp8", "0.32.0", []),
        ("Qwen/Qwen3-32B-FP8", "awq", "0.12.0", [ERROR]),
        ("Qwen/Qwen3-32B-FP8", "fp8", "0.12.0", []),
        ("Qwen/Qwen3-32B-AWQ", "gptq", "0.12.0", [WARNING]),
        ("Qwen/Qwen3-32B-AWQ", "gptq", "0.20.0", []),  # AutoRound's weights may have such a name
        ("Qwen/Qwen3-32B-AWQ", "awq_marlin", "0.12.0", []),
        ("zai-org/GLM-4.6-FP8", "fp8", "0.12.0", [WARNING]),
        ("zai-org/GLM-4.6-FP8", "compressed-tensors", "0.12.0", []),
        ("RedHatAI/Qwen3-30B-A3B-FP8-dynamic", "fp8", "0.20.0", [WARNING]),
        ("openai/gpt-oss-120b", "fp8", "0.12.0", [WARNING]),
        ("openai/gpt-oss-120b", "fp8", "0.20.0", []),
        ("nvidia/DeepSeek-R1-FP4", "fp8", "0.12.0", []),
        ("deepseek-ai/DeepSeek-V3.1", "awq", "0.12.0", [ERROR]),
        ("/models/Qwen3-32B", "awq", "0.12.0", []),
    ],
)
def test_methods_and_weights_of_another_engine(model: str, method: str, version: str, expected: list[Severity]) -> None:
    assert said(f"vllm serve {model} -tp 8 --quantization {method}", version) == expected


def test_overrides_of_the_configuration_are_not_judged() -> None:
    command = "vllm serve Qwen/Qwen3-32B -tp 8 --quantization awq --hf-overrides '{}'"
    assert not said(command.format('{"quantization_config_file": "/q.json"}'), "0.12.0")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a/b-AWQ", "awq"), ("a/b_GPTQ-Int4/", "gptq"), ("a/b-FP8", "fp8"), ("a/b-bnb-4bit", "bitsandbytes")],
)
def test_names_tell_formats(name: str, expected: str) -> None:
    assert expected in methods_of_name(name)


def test_names_with_two_formats_or_none_tell_nothing() -> None:
    assert not methods_of_name("a/b-AWQ-FP8")
    assert not methods_of_name("a/b")


def test_rows_are_whole() -> None:
    assert all(row.methods and row.reads and row.since for row in quantization_flags().values())
    assert all(row.methods for row in named_formats().values())


@pytest.mark.parametrize(
    ("model", "is_told"),
    [
        ("moonshotai/Kimi-K2-Instruct", True),
        ("/models/Kimi-K2-Instruct", True),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", True),
        ("moonshotai/Kimi-K2-Thinking", False),
        ("Qwen/Qwen3-32B", False),  # converted as it is loaded
        ("google/gemma-4-26B-A4B-it", False),
        ("/models/merged", False),
    ],
)
def test_fp8_is_said_again_of_fp8_weights_alone(model: str, is_told: bool) -> None:
    [judged] = ask(f"vllm serve {model} -tp 8 --quantization fp8", "", "0.32.0")
    assert any(finding.code is Code.REDUNDANT_FLAG for finding in judged.findings) is is_told


@pytest.mark.parametrize(
    ("devices", "mended"),
    [("1xRTX4090", []), ("2xRTX4090", []), ("1xH200", ["serve", "Qwen/Qwen3.6-35B-A3B", "--max-model-len", "8192"])],
)
def test_a_method_is_left_out_alone_where_the_plain_weights_have_room(devices: str, mended: list[str]) -> None:
    tp = devices.partition("x")[0]
    (judged,) = ask(f"vllm serve Qwen/Qwen3.6-35B-A3B --max-model-len 8192 -tp {tp} --quantization awq", devices)
    (finding,) = [each for each in judged.findings if "does not convert weights" in each.message]
    assert ("take at least" in finding.remedy) is not bool(mended)
    assert [word for line in judged.corrected for word in line.argv][1:5] == mended
