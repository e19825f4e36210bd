"""Programs that run an engine without a server, and which of their options are not the server's."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field
from msgspec.structs import force_setattr


class Offline(Struct, frozen=True):
    """`own`: options that the server does not have, or that mean another thing there, whatever values they take."""

    command: str
    """The words that start it; a module stands without `python -m`."""
    server: str
    """The program whose other options it takes."""
    own: frozenset[str]
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Its names of the server's options; "" of one whose value stands alone there."""
    subcommands: frozenset[str] = frozenset()
    """Words among its options that say what is measured."""
    always: tuple[str, ...] = ()
    """Options of the server that it sets by itself."""

    def __post_init__(self) -> None:
        force_setattr(self, "renamed", MappingProxyType(dict(self.renamed)))


# sglang 0.4.6 to 0.5.12, bench_one_batch.py and bench_offline_throughput.py: BenchArgs.add_cli_args.
_ONE_BATCH: Final = frozenset(
    {
        *("--run-name", "--batch-size", "--batch", "--input-len", "--output-len", "--prompt-filename"),
        *("--result-filename", "--correctness-test", "--cut-len", "--log-decode-step", "--profile"),
        *("--profile-activities", "--profile-filename-prefix", "--profile-record-shapes", "--profile-stage"),
        *("--profile-start-step", "--profile-steps"),
    }
)
_OFFLINE_THROUGHPUT: Final = frozenset(
    {
        *("--apply-chat-template", "--backend", "--dataset-name", "--dataset-path", "--disable-ignore-eos"),
        *("--do-not-exit", "--extra-request-body", "--gsp-num-groups", "--gsp-output-len", "--gsp-prompts-per-group"),
        *("--gsp-question-len", "--gsp-system-prompt-len", "--logprob-start-len", "--num-prompts", "--profile"),
        *("--prompt-suffix", "--random-input-len", "--random-output-len", "--random-range-ratio", "--random-input"),
        *("--random-output", "--result-filename", "--return-logprob", "--seed", "--sharegpt-context-len"),
        *("--sharegpt-output-len", "--skip-warmup"),
    }
)
# vllm 0.8.5 to 0.27.0, benchmarks/latency.py and benchmarks/throughput.py.
_LATENCY: Final = frozenset(
    {
        *("--batch-size", "--disable-detokenize", "--input-len", "--n", "--num-iters", "--num-iters-warmup"),
        *("--output-json", "--output-len", "--profile", "--use-beam-search"),
    }
)
_THROUGHPUT: Final = frozenset(
    {
        *("--asr-max-audio-len-sec", "--asr-min-audio-len-sec", "--async-engine", "--backend", "--custom-output-len"),
        *("--dataset", "--dataset-name", "--dataset-path", "--disable-detokenize", "--enable-multimodal-chat"),
        *("--disable-frontend-multiprocessing", "--hf-enable-torch-compile", "--hf-max-batch-size", "--hf-name"),
        *("--hf-split", "--hf-subset", "--input-len", "--lora-assignment", "--lora-path", "--n", "--no-oversample"),
        *("--num-prompts", "--num-warmups", "--output-json", "--output-len", "--prefix-len", "--prequeue-requests"),
        *("--prefix-repetition-num-prefixes", "--prefix-repetition-output-len", "--prefix-repetition-prefix-len"),
        *("--prefix-repetition-suffix-len", "--profile", "--random-input-len", "--random-output-len"),
        *("--random-range-ratio", "--random-prefix-len"),
    }
)
# https://nvidia.github.io/TensorRT-LLM/commands/trtllm-bench.html
_TRTLLM: Final = frozenset(
    {
        *("--workspace", "-w", "--log_level", "--model_path", "--dataset", "--eos_id", "--num_requests", "--warmup"),
        *("--concurrency", "--streaming", "--report_json", "--iteration_log", "--output_json", "--request_json"),
        *("--target_input_len", "--target_output_len", "--max_input_len", "--scheduler_policy", "--sampler_options"),
        *("--modality", "--data_device", "--max_seq_len", "--beam_width", "--engine_dir", "--no_skip_tokenizer_init"),
        *("--enable_chunked_context", "--disable_chunked_context", "--no_weights_loading", "--image_data_format"),
        *("--num_gpus", "--cluster_size", "--checkpoint_path"),
    }
)
# TensorRT-LLM 0.19 to 1.3, examples/llm-api/quickstart_advanced.py (examples/pytorch before) and its sister for images.
_QUICKSTART: Final = frozenset(
    {
        *("--prompt", "--attention_backend", "--moe_backend", "--enable_attention_dp", "--enable_trtllm_sampler"),
        *("--moe_tp_size", "--moe_cluster_size", "--kv_cache_dtype", "--disable_kv_cache_reuse", "--use_cuda_graph"),
        *("--disable_overlap_scheduler", "--enable_chunked_prefill", "--cuda_graph_padding_enabled", "--load_format"),
        *("--cuda_graph_batch_sizes", "--print_iter_log", "--use_torch_compile", "--use_piecewise_cuda_graph"),
        *("--max_tokens", "--temperature", "--top_k", "--top_p", "--max_beam_width", "--spec_decode_algo"),
        *("--spec_decode_nextn", "--draft_model_dir", "--eagle_model_dir", "--max_matching_ngram_size", "--logprobs"),
        *("--use_one_model", "--use_relaxed_acceptance_for_thinking", "--relaxed_topk", "--relaxed_delta", "--seed"),
        *("--return_context_logits", "--return_generation_logits", "--quant", "--enable_overlap_scheduler", "--media"),
        *("--apply_chat_template", "--sampler_type", "--spec_decode_max_draft_len", "--modality", "--model_type"),
        *("--tokens_per_block", "--max_total_draft_tokens", "--log_kv_cache_events", "--chat_template", "--kv_cache"),
        *("--additional_model_outputs", "--stream_interval", "--dynamic_tree_max_topK", "--use_dynamic_tree"),
    }
)
_QUICKSTART_NAMES: Final = {
    **{"--model_dir": "", "--moe_ep_size": "--ep_size"},
    "--kv_cache_fraction": "--kv_cache_free_gpu_memory_fraction",
}
OFFLINE: Final = (
    *(
        Offline(name, "trtllm-serve", _QUICKSTART, _QUICKSTART_NAMES, always=("--backend", "pytorch"))
        for name in ("quickstart_advanced.py", "quickstart_multimodal.py")
    ),
    Offline("sglang.bench_one_batch", "sglang", _ONE_BATCH),
    Offline("sglang.bench_offline_throughput", "sglang", _OFFLINE_THROUGHPUT),
    Offline("vllm bench latency", "vllm serve", _LATENCY),
    Offline("vllm bench throughput", "vllm serve", _THROUGHPUT),
    Offline(
        "trtllm-bench",
        "trtllm-serve",
        _TRTLLM,
        {
            **{"-m": "", "--model": "", "--tp": "--tp_size", "--pp": "--pp_size", "--ep": "--ep_size"},
            "--kv_cache_free_gpu_mem_fraction": "--kv_cache_free_gpu_memory_fraction",
        },
        frozenset({"throughput", "latency"}),
    ),
)
TEST_SERVERS: Final = {"RemoteOpenAIServer": ("vllm", "serve")}
"""Classes of engines' own tests that start a server of a model and a list of options → the words in front of them."""
