"""The flags of the seed documents' commands against the releases that the documents name or were written for."""

from __future__ import annotations

import pytest

from moonpad.catalog.options import changes, values_of
from tests.unit.catalog.resolution import options, resolve

# By hand from the documents. Seed 0 names v0.11.1rc6.dev211; seed 1 uses -dcp and so needs 0.10.2; seed 2 names
# v0.20.2rc1; seed 3 is of November 2025, when 0.11.1 was the nightly; seed 4 names v0.10.0rc1.
VLLM_0 = """--tensor-parallel-size --max-model-len --max-num-batched-tokens --max-num-seqs --gpu-memory-utilization
    --enable-chunked-prefill --enable-prefix-caching --load-format --enforce-eager --reasoning-parser"""
VLLM_1 = """--trust-remote-code --tokenizer-mode --tensor-parallel-size --pipeline-parallel-size --dtype --quantization
    --max-model-len --max-num-seqs --max-num-batched-tokens --enable-chunked-prefill --disable-log-requests
    --kv-cache-dtype -dcp --no-enable-prefix-caching"""
VLLM_2 = """--tensor-parallel-size --max-model-len --max-num-batched-tokens --max-num-seqs --gpu-memory-utilization
    --trust-remote-code --enable-expert-parallel --no-enable-prefix-caching --served-model-name
    --decode-context-parallel-size"""
VLLM_3 = """--tensor-parallel-size --decode-context-parallel-size --enable-auto-tool-choice --tool-call-parser
    --reasoning-parser --trust-remote-code --no-enable-prefix-caching"""
VLLM_4 = """--port --served-model-name --trust-remote-code --tensor-parallel-size --enable-auto-tool-choice
    --tool-call-parser --data-parallel-size --data-parallel-size-local --data-parallel-address
    --data-parallel-rpc-port --enable-expert-parallel --max-num-batched-tokens --max-num-seqs
    --gpu-memory-utilization --headless --data-parallel-start-rank"""
BENCH = """--model --dataset-name --random-input-len --random-output-len --request-rate --num-prompts --ignore-eos
    --trust-remote-code --backend --endpoint --max-concurrency"""
SGLANG = """--model-path --tp-size --dist-init-addr --nnodes --node-rank --trust-remote-code --tool-call-parser
    --disaggregation-mode --dp-size --enable-dp-attention --host --decode-log-interval --disable-radix-cache
    --enable-deepep-moe --moe-dense-tp-size --enable-dp-lm-head --disable-shared-experts-fusion --watchdog-timeout
    --enable-two-batch-overlap --disaggregation-ib-device --chunked-prefill-size --mem-fraction-static --deepep-mode
    --ep-dispatch-algorithm --eplb-algorithm --max-running-requests --context-length --cuda-graph-bs
    --ep-num-redundant-experts"""
KTRANSFORMERS = "--model_path --gguf_path --cache_lens --optimize_config_path"
TENSORRT_LLM = """--backend --tp_size --ep_size --kv_cache_free_gpu_memory_fraction --trust_remote_code --max_batch_size
    --max_num_tokens --extra_llm_api_options --port"""

SEEDS = {
    "0": ("vllm serve", "v0.11.1rc6.dev211+g934a9c3b7", VLLM_0),
    "1": ("vllm serve", "0.11.0", VLLM_1),
    "1 oldest": ("vllm serve", "0.10.2", VLLM_1),
    "1 bench": ("vllm bench serve", "0.11.0", BENCH),
    "2": ("vllm-ascend", "v0.20.2rc1", VLLM_2),
    "2 bench": ("vllm bench serve", "0.20.2", BENCH),
    "3": ("vllm serve", "0.11.1", VLLM_3),
    "4 vllm": ("vllm serve", "v0.10.0rc1", VLLM_4),
    "4 sglang": ("sglang", "0.4.9.post6", SGLANG),
    "4 ktransformers": ("ktransformers-legacy", None, KTRANSFORMERS),
    "4 tensorrt-llm": ("trtllm-serve", "1.0.0rc2", TENSORRT_LLM),
}


@pytest.mark.parametrize("seed", SEEDS)
def test_each_flag_is_in_the_release_of_its_document(seed: str) -> None:
    program, version, flags = SEEDS[seed]
    known_options = options(program, version)
    assert [flag for flag in flags.split() if resolve(known_options, flag).how != "exact"] == []


def test_what_went_from_vllm_0_11_to_0_32() -> None:
    """Of all flags of the seeds, one."""
    flags = set(f"{VLLM_0} {VLLM_1} {VLLM_2} {VLLM_3} {VLLM_4}".split())
    old, new = options("vllm serve", "0.11.0"), options("vllm serve", "0.32.0")
    assert {flag for flag in flags if old.named(flag) and not new.named(flag)} == {"--disable-log-requests"}
    assert [flag for flag in flags if not old.named(flag)] == []


def test_what_went_from_sglang_0_4_9_to_0_5_23() -> None:
    new = options("sglang", "0.5.23")
    gone = {flag for flag in SGLANG.split() if not new.named(flag)}
    assert gone == {"--enable-deepep-moe", "--cuda-graph-bs"}


def test_nothing_went_from_the_benchmark() -> None:
    new = options("vllm bench serve", "0.32.0")
    assert [flag for flag in BENCH.split() if not new.named(flag)] == []


# Every row of the notes' table of what changed since the documents were written, at the releases that they checked.
@pytest.mark.parametrize(
    ("program", "version", "flag", "kind"),
    [
        ("vllm serve", "0.32.0", "--distributed-executor-backend", "missing-flag"),
        ("vllm serve", "0.32.0", "--disable-log-requests", "removed"),
        ("vllm serve", "0.32.0", "--load-format", "invalid-value"),
        ("vllm bench serve", "0.32.0", "--random-input", "prefix"),
        ("vllm bench serve", "0.32.0", "--random-output", "prefix"),
        ("vllm bench serve", "0.32.0", "--num-prompt", "prefix"),
        ("vllm serve", "0.32.0", "VLLM_USE_V1", "dead-env"),
        ("vllm serve", "0.32.0", "VLLM_USE_TRITON_FLASH_ATTN", "dead-env"),
        ("vllm serve", "0.32.0", "SAFETENSORS_FAST_GPU", "dead-env"),
        ("vllm serve", "0.32.0", "reasoning_content", "response-field"),
        ("vllm serve", "0.32.0", "--tool-call-parser", "unchecked-value"),
        ("vllm-ascend", "0.23.0", "--disable-log-requests", "removed"),
        ("sglang", "0.5.23", "--tp", "prefix"),
        ("sglang", "0.5.23", "--enable-dp-attention", "deprecated"),
        ("sglang", "0.5.23", "--enable-deepep-moe", "removed"),
        ("sglang", "0.5.23", "--cuda-graph-bs", "ambiguous"),
        ("sglang", "0.5.23", "sglang.srt.disaggregation.launch_lb", "removed"),
        ("sglang", "0.5.23", "--kv-cache-dtype", "invalid-value"),
        ("ktransformers-legacy", "0.7.2", "ktransformers/server/main.py", "removed"),
        ("trtllm-serve", "1.2.0", "--extra_llm_api_options", "renamed"),
        ("trtllm-serve", "1.2.0", "--model", "no-option"),
        ("trtllm-serve", "1.2.0", "cuda_graph_config.padding_enabled", "renamed"),
        ("trtllm-serve", "1.2.0", "kv_cache_dtype", "renamed"),
    ],
)
def test_each_change_since_the_seeds_is_known(program: str, version: str, flag: str, kind: str) -> None:
    matching = [change for change in changes(program, version) if change.flag == flag]
    assert [change.kind for change in matching] == [kind]
    assert matching[0].remedy


@pytest.mark.parametrize(
    ("program", "version", "flag"),
    [
        ("vllm serve", "0.10.0", "--disable-log-requests"),
        ("vllm serve", "0.11.0", "VLLM_USE_V1"),
        ("vllm serve", "0.11.0", "--distributed-executor-backend"),
        ("vllm serve", "0.11.0", "reasoning_content"),
        ("sglang", "0.4.9", "--enable-deepep-moe"),
        ("sglang", "0.4.10.post2", "--cuda-graph-bs"),
        ("sglang", "0.4.10.post2", "sglang.srt.disaggregation.launch_lb"),
        ("sglang", "0.5.21", "--enable-dp-attention"),
        ("ktransformers-legacy", "0.3.2", "ktransformers/server/main.py"),
        ("trtllm-serve", "1.0.0rc2", "cuda_graph_config.padding_enabled"),
    ],
)
def test_what_was_right_then_is_not_blamed(program: str, version: str, flag: str) -> None:
    assert [change for change in changes(program, version) if change.flag == flag] == []


def test_the_parser_that_the_seeds_name() -> None:
    """Seed 0 says that vLLM has the reasoning parser since 0.8.5; 0.11.0 has none of that name, 0.11.1 has."""
    for version in ("0.10.0", "0.11.1", "0.20.2", "0.32.0", "0.33.0"):
        assert "kimi_k2" in values_of("vllm serve", version, "tool_call_parser")
    assert "kimi_k2" not in values_of("vllm serve", "0.11.0", "reasoning_parser")
