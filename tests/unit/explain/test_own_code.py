"""Models whose configuration only the code of their repository reads."""

from __future__ import annotations

import pytest

from moonpad.catalog.other_models import other_models
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import order
from tests.unit.explain.judging import ask

ERROR, WARNING = Severity.ERROR, Severity.WARNING
MIMO, NAS, LING = "XiaomiMiMo/MiMo-7B-RL", "nvidia/Llama-3_3-Nemotron-Super-49B-v1", "inclusionAI/Ling-mini-2.0"


def told(text: str, version: str = "") -> list[Severity]:
    findings = [finding for judged in ask(text, "8xH100", version) for finding in judged.findings]
    return [each.severity for each in findings if each.code is Code.MISSING_FLAG and "trust" in each.where]


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        (f"vllm serve {MIMO}", "0.9.2", [ERROR]),
        (f"vllm serve {MIMO}", "", [WARNING]),
        (f"vllm serve {NAS} -tp 8", "0.11.2", [ERROR]),
        (f"vllm serve {NAS}_5-FP8 -tp 8", "0.16.0", [ERROR]),
        (f"vllm serve {LING}", "0.20.0", [ERROR]),
        ("vllm serve OpenGVLab/InternVL3_5-8B", "0.11.0", [ERROR]),
        ("vllm serve microsoft/Phi-4-multimodal-instruct", "0.12.0", [ERROR]),
        ("vllm serve /models/MiMo-7B-RL", "0.9.2", [WARNING]),
        (f"python3 -m sglang.launch_server --model-path {MIMO}", "0.5.9", [WARNING]),
    ],
)
def test_without_the_option_the_start_ends(text: str, version: str, expected: list[Severity]) -> None:
    assert told(text, version) == expected


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (f"vllm serve {MIMO} --trust-remote-code", "0.9.2"),
        (f"vllm serve {MIMO}", "0.33.0"),  # not read
        (f"vllm serve {MIMO}", "0.8.5"),  # no class at all
        ("vllm serve OpenGVLab/InternVL3_5-8B", "0.9.1"),  # had a class of its own
        ("vllm serve OpenGVLab/InternVL3_5-8B-HF", "0.11.0"),
        ("vllm serve MiniMaxAI/MiniMax-M1-80k-hf", "0.11.0"),
        (f"vllm serve {MIMO} --hf-config-path other/config", "0.9.2"),
        (f'vllm serve {MIMO} "$@"', "0.9.2"),
        ("vllm serve Qwen/Qwen3-8B", "0.9.2"),
        ("vllm serve deepseek-ai/DeepSeek-V3.2", "0.12.0"),
        ("vllm serve microsoft/Phi-4-mini-instruct", "0.12.0"),
        ("python3 -m sglang.launch_server --model-path OpenGVLab/InternVL3_5-8B", "0.5.9"),
    ],
)
def test_others_are_not_told(text: str, version: str) -> None:
    assert not told(text, version)


def test_the_option_is_added() -> None:
    (judged,) = ask(f"vllm serve {LING} -tp 2", "8xH100", "0.20.0")
    (remark,) = [each for each in judged.remarks if "trust" in each.finding.where]
    assert [edit.words for edit in remark.edits] == [("--trust-remote-code",)]


@pytest.mark.parametrize(
    ("text", "version", "part"),
    [
        ("vllm serve MiniMaxAI/MiniMax-M1-80k --trust-remote-code -tp 8", "0.24.0", "went with 0.24.0"),
        ("vllm serve meta-llama/Llama-3.2-11B-Vision-Instruct", "0.11.0", "went with 0.11.0"),
        ("vllm serve zai-org/GLM-4.7-Flash", "0.14.1", "came with 0.15.0"),
        ("vllm serve google/gemma-4-31B-it", "0.18.1", "came with 0.19.0"),
        ("vllm serve zai-org/GLM-4.7-Flash -tp 8", "0.20.0", "20 attention heads"),
        ("vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 72000", "0.8.4", "has 32768 positions"),
        ("vllm serve google/gemma-2-27b-it --max-model-len 16384", "0.11.0", "has 8192 positions"),
        ("vllm serve meta-llama/Meta-Llama-3-8B-Instruct --max-model-len 32768", "0.11.0", "has 8192 positions"),
        ("vllm serve microsoft/phi-4 --max-model-len 32768", "0.11.0", "has 16384 positions"),
        ("vllm serve baidu/ERNIE-4.5-21B-A3B-PT -tp 8", "0.11.0", "20 attention heads"),
    ],
)
def test_what_models_of_these_years_cannot_have(text: str, version: str, part: str) -> None:
    messages = [finding.message for judged in ask(text, "8xH100", version) for finding in judged.findings]
    assert any(part in message for message in messages), messages


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("vllm serve MiniMaxAI/MiniMax-M1-80k --trust-remote-code -tp 8", "0.23.0"),
        ("vllm serve zai-org/GLM-4.7-Flash -tp 4", "0.15.0"),
        ("vllm serve stepfun-ai/Step-3.5-Flash -tp 8", "0.15.1"),
        ("vllm serve Qwen/Qwen2.5-7B --max-model-len 131072", "0.8.4"),
        ("vllm serve Qwen/Qwen2.5-1.5B --max-model-len 65536", "0.8.4"),
        ("VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 72000", "0.8.4"),
        ("vllm serve nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 -tp 8 --trust-remote-code", "0.20.0"),
    ],
)
def test_what_they_can(text: str, version: str) -> None:
    findings = [finding for judged in ask(text, "8xH100", version) for finding in judged.findings]
    said = [each.message for each in findings if "has no class" in each.message or "positions" in each.message]
    said += [each.message for each in findings if each.code is Code.ILLEGAL_LAYOUT]
    assert not said


def test_spans_are_in_order_and_begin_with_the_class() -> None:
    for key, row in other_models().items():
        for engine, (first, last) in row.own_code.items():
            assert order(first) <= order(last), key
            assert engine not in row.first or order(first) >= order(row.first[engine]), key
        assert all(order(row.first.get(engine, "0")) < order(gone) for engine, gone in row.gone.items()), key


def test_groups_that_do_not_divide_a_whole_expert_are_smaller_ones() -> None:
    messages = [
        finding.message
        for judged in ask("vllm serve cyankiwi/gemma-4-26B-A4B-it-AWQ-4bit -tp 2", "8xH100", "0.20.0")
        for finding in judged.findings
    ]
    assert not any("groups of 128" in message for message in messages)


def test_an_encoder_needs_no_memory_for_the_language_model() -> None:
    start = "vllm serve Qwen/Qwen3-VL-32B-Instruct -tp 1 --gpu-memory-utilization 0.01"
    producer = """ --ec-transfer-config '{"ec_connector": "ECExampleConnector", "ec_role": "ec_producer"}'"""
    told_of = [
        any(f.code is Code.DOES_NOT_FIT for j in ask(t, "1xH100") for f in j.findings)
        for t in (start, start + producer)
    ]
    assert told_of == [True, False]


SMALL = "python3 -m sglang.launch_server --tp-size 1 --model-path "


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        (f"{SMALL}moonshotai/Kimi-VL-A3B-Instruct", "0.5.20", [ERROR]),
        (f"{SMALL}moonshotai/Kimi-VL-A3B-Thinking-2506", "", [WARNING]),
        (f"{SMALL}$MODEL_PATH --served-model-name moonshotai/Kimi-VL-A3B-Instruct", "0.5.5", [WARNING]),
        (f"{SMALL}$MODEL_PATH --served-model-name moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code", "0.5.5", []),
        ("vllm serve moonshotai/Kimi-VL-A3B-Instruct", "0.30.0", [Severity.NOTE]),
    ],
)
def test_kimi_vl_is_told_by_its_own_name_or_the_served_one(text: str, version: str, expected: list[Severity]) -> None:
    assert told(text, version) == expected
