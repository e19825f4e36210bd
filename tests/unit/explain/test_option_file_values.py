"""Words, sizes and drafts in the YAML of TensorRT-LLM."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

ERROR, WARNING = Severity.ERROR, Severity.WARNING
TEXT = """cat > extra.yaml <<EOF
{}
EOF
trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 --{} extra.yaml
"""


def said(content: str, words: str, option: str = "extra_llm_api_options", version: str = "1.1.0") -> list[Severity]:
    judged = ask(TEXT.format(content, option), "8xB200", version)
    return [finding.severity for each in judged for finding in each.findings if words in finding.message]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("moe_config:\n  backend: trtllm", [ERROR]),
        ("moe_config:\n  backend: CUTLAS", [WARNING]),
        ("moe_config:\n  backend: TRTLLM", []),
        ("moe_config:\n  backend: ${BACKEND}", []),
        ("moe_config: null", []),
        ("speculative_config:\n  decoding_type: mtp\n  num_nextn_predict_layers: 3", [ERROR]),
        ("speculative_config:\n  decoding_type: EAGLE\n  max_draft_len: 3\n  speculative_model_dir: /d", [ERROR]),
        ("speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 3", []),
        ("speculative_config:\n  decoding_type: Eagle\n  max_draft_len: 3\n  speculative_model_dir: /d", []),
        ("enable_attention_dp: true", []),
    ],
)
def test_words_of_keys(content: str, expected: list[Severity]) -> None:
    assert said(content, "is not a value of") == expected
    assert said(content, "is not a value of", "config", "1.3.0rc14") == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("cuda_graph_config:\n  batch_sizes: [1, 2, 4]\n  max_batch_size: 64", [ERROR]),
        ("cuda_graph_config:\n  batch_sizes: [1, 2, 64]\n  max_batch_size: 64", []),
        ("cuda_graph_config:\n  batch_sizes: [1, 2, 4]", []),
        ("cuda_graph_config:\n  enable_padding: true\n  max_batch_size: 64", []),
        ("cuda_graph_config:\n  batch_sizes: $SIZES\n  max_batch_size: 64", []),
    ],
)
def test_sizes_of_graphs(content: str, expected: list[Severity]) -> None:
    assert said(content, "both together are refused") == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("speculative_config:\n  decoding_type: Eagle", 2),
        ("speculative_config:\n  decoding_type: Eagle\n  speculative_model: /d", 1),
        ("speculative_config:\n  decoding_type: Eagle\n  speculative_model: /d\n  max_draft_len: 3", 0),
        ("speculative_config:\n  decoding_type: MTP", 0),
    ],
)
def test_the_draft_of_a_file(content: str, expected: int) -> None:
    words = ("and none is named: the start ends (Draft", "without max_draft_len")
    found = [each for part in words for each in said(content, part, version="1.3.0rc14")]
    assert len(found) == expected


def test_the_length_of_a_draft_is_asked_for_by_later_releases() -> None:
    assert not said("speculative_config:\n  decoding_type: Eagle", "without max_draft_len", version="1.1.0")


def test_a_recipe_is_quiet() -> None:
    recipe = (
        "enable_attention_dp: false\nmoe_config:\n  backend: CUTLASS\ncuda_graph_config:\n  enable_padding: true\n"
        "  max_batch_size: 1024\nkv_cache_config:\n  dtype: fp8\n  free_gpu_memory_fraction: 0.8\nprint_iter_log: true"
    )
    for words in ("is not a value of", "both together are refused", "without max_draft_len"):
        assert not said(recipe, words)


def test_a_file_of_another_engine_is_not_read() -> None:
    text = "cat > c.yaml <<EOF\nmoe_config:\n  backend: trtllm\nEOF\nvllm serve Qwen/Qwen3-32B --config c.yaml\n"
    assert not [finding for judged in ask(text) for finding in judged.findings if "not a value of" in finding.message]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("tensor_parallel_size: 1", [WARNING]),
        ("tensor_parallel_size: 8", []),
        ("max_batch_size: 16", []),
        ("tensor_parallel_size: ${TP}", []),
    ],
)
def test_the_file_wins_over_the_command_line(content: str, expected: list[Severity]) -> None:
    assert said(content, "the file wins") == expected


def test_the_file_wins_over_a_worker_s_options_too() -> None:
    worker = "python3 -m dynamo.trtllm --model-path a/b --tensor-parallel-size 8 --extra-engine-args extra.yaml"
    text = f"cat > extra.yaml <<EOF\ntensor_parallel_size: 1\nEOF\n{worker}\n"
    found = [finding.message for one in ask(text) for finding in one.findings]
    assert any("the file wins" in message for message in found)


@pytest.mark.parametrize(
    ("content", "words", "expected"),
    [
        ("attn_backend: TRTLMM", "is not a name of attn_backend", [WARNING]),
        ("attn_backend: flashinfer", "is not a name of attn_backend", []),
        ("attn_backend: ANOTHER", "is not a name of attn_backend", []),
        ("cache_transceiver_config:\n  backend: MOONCAKEE", "is not a value of", [WARNING]),
        ("cache_transceiver_config:\n  backend: UCX", "is not a value of", []),
        ("cache_transceiver_config:\n  backend: ucx", "are in capitals from 1.1 on", [WARNING]),
        ("cache_transceiver_config:\n  backend: UCX", "are in capitals from 1.1 on", []),
        ("speculative_config:\n  num_nextn_predict_layers: 3", "which kind of draft", [WARNING]),
        ("speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 3", "which kind of draft", []),
        ("speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 3", "has no layers", []),
    ],
)
def test_names_and_drafts(content: str, words: str, expected: list[Severity]) -> None:
    assert said(content, words) == expected


def test_a_draft_without_layers() -> None:
    text = TEXT.replace("deepseek-ai/DeepSeek-R1", "nvidia/Kimi-K2-Thinking-NVFP4")
    content = "speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: {}"
    for layers, expected in (("3", True), ("0", True)):
        judged = ask(text.format(content.format(layers), "config"), "8xB200", "1.3.0rc14")
        words = "has no layers for multi-token" if layers == "3" else "is 1 or more"
        assert any(words in finding.message for each in judged for finding in each.findings) is expected
