"""Keys and words of TensorRT-LLM's YAML by release."""

from __future__ import annotations

import pytest

from moonpad.catalog.option_file_values import option_file_refusals
from moonpad.catalog.options.config_keys import lacking_key, lacking_word
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

WARNING = Severity.WARNING
TEXT = """cat > extra.yaml <<EOF
{}
EOF
trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 {} --extra_llm_api_options extra.yaml
"""


def said(content: str, version: str, words: str = "has no key", more: str = "") -> list[str]:
    judged = ask(TEXT.format(content, more), "8xB200", version)
    return [finding.message for each in judged for finding in each.findings if words in finding.message]


@pytest.mark.parametrize(
    ("content", "version", "count"),
    [
        ("kv_cache_config:\n  disk_cache_size: 1000", "1.2.1", 1),
        ("kv_cache_config:\n  disk_cache_size: 1000", "1.3.0rc14", 0),
        ("kv_cache_config:\n  disk_cache_size: 1000", "", 0),
        ("kv_cache_config:\n  onboard_blocks: true", "1.4.0rc1", 1),
        ("kv_cache_config:\n  onboard_blocks: true", "1.2.1", 0),
        ("kv_cache_config:\n  enable_blok_reuse: true", "1.2.1", 1),
        ("kv_cache_config:\n  enable_blok_reuse: true", "", 1),
        ("kv_cache_config:\n  no_such_thing_at_all: true", "1.2.1", 1),
        ("kv_cache_config:\n  no_such_thing_at_all: true", "", 0),
        ("enable_energy_metrics: true", "1.1.0", 1),
        ("enable_energy_metrics: true", "1.0.0", 1),
        ("enable_energy_metrics: true", "1.3.0rc29", 0),
        ("gms_config:\n  mode: rw", "1.2.1", 1),
        ("attention_dp_config:\n  enable_balance: true", "1.1.0", 0),
        ("cache_transceiver_config:\n  backend: NIXL\n  max_num_tokens: 8192", "1.2.1", 1),
        ("speculative_config:\n  decoding_type: NGram\n  num_nextn_predict_layers: 1", "1.2.1", 1),
        ("speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layer: 1", "1.2.1", 1),
        ("sampler_type: TorchSampler", "1.4.0rc1", 0),
        ("backend: _autodeploy\nenable_energy_metrics: true", "1.1.0", 0),
        ("$KEY: 1", "1.2.1", 0),
        ("kv_cache_dtype: fp8", "1.2.1", 1),
    ],
)
def test_keys(content: str, version: str, count: int) -> None:
    assert len(said(content, version)) == count


@pytest.mark.parametrize(
    ("content", "version", "count"),
    [
        ("enable_block_reuse: true", "", 1),
        ("kv_cache_config:\n  print_iter_log: true", "", 1),
        ("cuda_graph_config:\n  print_iter_log: true", "1.2.1", 1),
        ("kv_cache_config:\n  enable_block_reuse: true", "", 0),
        ("print_iter_log: true", "", 0),
        ("max_batch_size: 8", "", 0),
    ],
)
def test_keys_of_another_table(content: str, version: str, count: int) -> None:
    assert len(said(content, version, "is a key of")) == count


def test_another_backend_has_other_keys() -> None:
    assert not said("enable_energy_metrics: true", "1.1.0", more="--backend tensorrt")


@pytest.mark.parametrize(
    ("content", "version", "count"),
    [
        ("moe_config:\n  backend: MEGAMOE_DEEPGEMM", "1.2.1", 1),
        ("moe_config:\n  backend: MEGAMOE_DEEPGEMM", "1.3.0rc14", 0),
        ("moe_config:\n  backend: MEGAMOE_DEEPGEMM", "", 0),
        ("moe_config:\n  backend: WIDEEP", "1.2.1", 0),
        ("speculative_config:\n  decoding_type: PARD\n  max_draft_len: 3", "1.2.1", 1),
        ("cache_transceiver_config:\n  backend: MOONCAKE", "1.1.0", 0),
    ],
)
def test_words(content: str, version: str, count: int) -> None:
    assert len(said(content, version, "does not take")) == count


def test_words_that_no_release_takes() -> None:
    assert said("cache_transceiver_config:\n  transceiver_runtime: cpp", "1.3.0rc14", "is not a value of")


@pytest.mark.parametrize(
    ("content", "version", "count"),
    [
        ("encode_only: true\nmm_encoder_only: true", "1.4.0rc1", 1),
        ("encode_only: true\nmm_encoder_only: false", "1.4.0rc1", 0),
        ("kv_cache_config:\n  disk_cache_size: 1000", "1.4.0rc1", 1),
        ("kv_cache_config:\n  disk_cache_size: 1000\n  disk_cache_path: /c", "1.4.0rc1", 0),
        ("encoder_cuda_graph_config:\n  batch_sizes: [1]", "1.4.0rc1", 1),
        ("sampler_type: TRTLLMSampler", "1.4.0rc1", 1),
        ("sampler_type: TRTLLMSampler", "1.2.1", 0),
        ("stream_interval: 0", "1.2.1", 1),
        ("stream_interval: 10", "1.2.1", 0),
        ("batch_wait_max_tokens_ratio: 1.5", "1.2.1", 1),
        ("batch_wait_max_tokens_ratio: 1.0", "1.2.1", 0),
        ("batch_wait_max_tokens_ratio: 0.75", "1.2.1", 0),
        ("stream_interval: 0\nbackend: _autodeploy", "1.2.1", 0),
        ("stream_interval: $N", "1.2.1", 0),
    ],
)
def test_what_is_refused(content: str, version: str, count: int) -> None:
    messages = {row.message for row in option_file_refusals().values()}
    judged = ask(TEXT.format(content, ""), "8xB200", version)
    found = [finding for each in judged for finding in each.findings if finding.message in messages]
    assert len(found) == count
    assert all(finding.severity is WARNING for finding in found)


def test_between_two_records_either_may_hold() -> None:
    lacking = lacking_key("trtllm-serve", "kv_cache_config", "disk_cache_size", "1.2.1")
    assert lacking is not None
    assert not lacking.exact
    assert lacking.first == "1.4.0rc0.dev0"
    assert lacking_key("trtllm-serve", "kv_cache_config", "disk_cache_size", "1.3.0rc20") is None
    assert lacking_key("trtllm-serve", "kv_cache_config", "no_such_key", "9.0.0") is None
    assert lacking_key("trtllm-serve", "no_such_table", "key", "1.2.1") is None
    assert lacking_key("sglang", "kv_cache_config", "key", "1.2.1") is None
    assert lacking_word("trtllm-serve", "moe_config.backend", "TRTLLM", "1.0.0") is None
    exact = lacking_key("trtllm-serve", "moe_config", "no_such_key", "1.3.0rc27")
    assert exact is not None
    assert exact.exact
