"""The release of Transformers in a text, against the type of the model that is served."""

from __future__ import annotations

import pytest

from moonpad.catalog.other_models import other_models
from moonpad.catalog.transformers_types import asked_transformers, transformers_types
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

TEXT = "It does not start.\n\n```\ntorch==2.7.1\n{}\n```\n\n```\nvllm serve {} --tensor-parallel-size 8\n```\n"


def told(stated: str, model: str) -> Severity | None:
    findings = [finding for judged in ask(TEXT.format(stated, model)) for finding in judged.findings]
    return next((each.severity for each in findings if "does not know the type" in each.message), None)


@pytest.mark.parametrize(
    ("stated", "model"),
    [
        ("transformers==4.53.2", "zai-org/GLM-4.5"),
        ("transformers version : 4.50.3", "Qwen/Qwen3-32B"),
        ("transformers 4.55.4", "zai-org/GLM-4.5V-FP8"),
        ("transformers: 4.56.2", "Qwen/Qwen3-VL-235B-A22B-Instruct"),
        ("[pip3] transformers==4.54.1", "openai/gpt-oss-120b"),
    ],
)
def test_one_that_is_older_than_the_type_is_told(stated: str, model: str) -> None:
    assert told(stated, model) is Severity.WARNING


@pytest.mark.parametrize(
    ("stated", "model"),
    [
        ("transformers==4.54.0", "zai-org/GLM-4.5"),
        ("transformers>=4.51.0", "openai/gpt-oss-120b"),
        ("transformers==4.53.2\npip install git+https://github.com/huggingface/transformers", "zai-org/GLM-4.5"),
        ("transformers==4.53.2\ntransformers==4.57.1", "zai-org/GLM-4.5"),
        ("sentence-transformers==3.0.1", "zai-org/GLM-4.5"),
        ("transformers==4.46.0", "meta-llama/Llama-3.1-70B-Instruct"),
        ("transformers 4.51 or later", "zai-org/GLM-4.5"),
    ],
)
def test_one_that_knows_it_or_may_is_not(stated: str, model: str) -> None:
    assert told(stated, model) is None


def test_the_models_have_types_of_the_table() -> None:
    assert {row.model_type for row in other_models().values()} - {""} <= transformers_types().keys()


def test_pydantic_s_sentence_is_the_engine_s() -> None:
    text = (
        "Serving it gives:\n\n```\nValue error, The checkpoint you are trying to load has model type `glm4_moe` but "
        "Transformers does not recognize this architecture.\n```\n\n```\nvllm serve zai-org/GLM-4.5\n```\n"
    )
    messages = [finding.message for judged in ask(text) for finding in judged.findings]
    assert any("does not know the model type glm4_moe" in message for message in messages)


ALONE = "```\n{}\n```\n"
VLLM = "vllm serve {} --tensor-parallel-size 8"
SGLANG = "python3 -m sglang.launch_server --model-path {} --tp-size 8"


def asked(command: str, version: str, before: str = "") -> Severity | None:
    findings = [
        finding for judged in ask(before + ALONE.format(command), version=version) for finding in judged.findings
    ]
    return next((each.severity for each in findings if "as installed" in each.message), None)


@pytest.mark.parametrize(
    ("command", "version"),
    [
        (VLLM.format("zai-org/GLM-4.7-Flash"), "0.15.1"),
        (VLLM.format("zai-org/GLM-5-FP8"), "0.17.1"),
        (SGLANG.format("zai-org/GLM-4.7-Flash"), "0.5.8"),
        (SGLANG.format("zai-org/GLM-5-FP8"), "0.5.9"),
        (SGLANG.format("zai-org/GLM-4.5V-FP8"), "0.5.1"),
    ],
)
def test_what_the_package_asks_for_may_be_older_than_the_type(command: str, version: str) -> None:
    assert asked(command, version) is Severity.WARNING


@pytest.mark.parametrize(
    ("command", "version", "before"),
    [
        (VLLM.format("zai-org/GLM-4.7"), "0.15.1", ""),
        (VLLM.format("zai-org/GLM-4.7-Flash"), "0.28.0", ""),
        (VLLM.format("zai-org/GLM-4.7-Flash"), "", ""),
        (VLLM.format("zai-org/GLM-4.7-Flash"), "0.16.1rc1.dev5", ""),
        (VLLM.format("zai-org/GLM-4.7-Flash"), "0.15.1", "pip install -U transformers\n\n"),
        (SGLANG.format("zai-org/GLM-5-FP8"), "0.5.10", ""),
        (SGLANG.format("zai-org/GLM-4.5V-FP8"), "0.5.2", ""),
    ],
)
def test_a_package_that_takes_it_or_another_one_beside_it_is_not_told(command: str, version: str, before: str) -> None:
    assert asked(command, version, before) is None


def test_what_is_asked_for_is_of_engines_with_checks() -> None:
    assert {row.engine for row in asked_transformers()} == {"vllm", "sglang"}


DEVSTRAL = "mistralai/Devstral-2-123B-Instruct-2512"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"# SGLang 0.5.7\npython -m sglang.launch_server --model-path {DEVSTRAL} --tp 8", True),
        ("# SGLang 0.5.9\nsglang serve --model-path mistralai/Ministral-3-14B-Instruct-2512", True),
        (f"# SGLang 0.5.12\npython -m sglang.launch_server --model-path {DEVSTRAL} --tp 8", False),
        ("# SGLang 0.5.7\nsglang serve --model-path mistralai/Mistral-Small-3.2-24B-Instruct-2506", False),
        (f"# vLLM 0.13.0\nvllm serve {DEVSTRAL} -tp 8", False),  # it reads params.json
        (f"# transformers==4.57.1, vLLM 0.13.0\nvllm serve {DEVSTRAL} -tp 8", False),
    ],
)
def test_a_type_of_the_text_alone_is_needed_by_who_reads_config_json(command: str, expected: bool) -> None:
    messages = [finding.message for judged in ask(command) for finding in judged.findings]
    assert any("does not know the type ministral3" in each for each in messages) is expected
