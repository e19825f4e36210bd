"""Changing the options of a command line: by our names of layout and settings, in the engine's own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moonpad.engines.argv import Occurrence, Parsed
from moonpad.explain.judged import Edit

# Our names → the newest long option. Where an engine has no option for something, it has no row.
_VLLM: Final = {
    "tp": "--tensor-parallel-size",
    "pp": "--pipeline-parallel-size",
    "dp": "--data-parallel-size",
    "ep": "--enable-expert-parallel",
    "dcp": "--decode-context-parallel-size",
    "max_model_len": "--max-model-len",
    "max_num_seqs": "--max-num-seqs",
    "max_num_batched_tokens": "--max-num-batched-tokens",
    "gpu_memory_utilization": "--gpu-memory-utilization",
    "kv_cache_dtype": "--kv-cache-dtype",
    "enforce_eager": "--enforce-eager",
    "attention_backend": "--attention-backend",
    "block_size": "--block-size",
    "quantization": "--quantization",
}
_SGLANG: Final = {
    "tp": "--tp-size",
    "pp": "--pp-size",
    "dp": "--dp-size",
    "ep": "--ep-size",
    "max_model_len": "--context-length",
    "max_num_seqs": "--max-running-requests",
    "max_num_batched_tokens": "--chunked-prefill-size",
    "gpu_memory_utilization": "--mem-fraction-static",
    "kv_cache_dtype": "--kv-cache-dtype",
    "enforce_eager": "--disable-cuda-graph",
    "attention_backend": "--attention-backend",
    "block_size": "--page-size",
    "redundant_experts": "--ep-num-redundant-experts",
    "quantization": "--quantization",
}
FLAGS: Final[Mapping[str, Mapping[str, str]]] = {
    "vllm": _VLLM,
    "vllm-cpu": _VLLM,
    "vllm-ascend": _VLLM,
    "sglang": _SGLANG,
    "ktransformers": {**_SGLANG, "gpu_experts": "--kt-num-gpu-experts"},
    "tensorrt-llm": {
        "tp": "--tp_size",
        "pp": "--pp_size",
        "ep": "--ep_size",
        "max_model_len": "--max_seq_len",
        "max_num_seqs": "--max_batch_size",
        "max_num_batched_tokens": "--max_num_tokens",
        "kv_free_fraction": "--kv_cache_free_gpu_memory_fraction",
    },
}


# Several names of one option, of which the first that a version has is the one that `Occurrence.flag` says.
_ALIASES: Final = {
    "--tensor-parallel-size": "--tp-size",
    "--pipeline-parallel-size": "--pp-size",
    "--data-parallel-size": "--dp-size",
    "--expert-parallel-size": "--ep-size",
    "--tensor_parallel_size": "--tp_size",
    "--pipeline_parallel_size": "--pp_size",
    "--moe_expert_parallel_size": "--ep_size",
    "--free_gpu_memory_fraction": "--kv_cache_free_gpu_memory_fraction",
}


def flag_of(engine: str, name: str) -> str | None:
    """The option that says `name` to the engine, None where it has none."""
    return FLAGS.get(engine, {}).get(name)


def names_option(one: Occurrence, flag: str | None) -> bool:
    """Whether this is that option, under whichever of its names."""
    return flag is not None and one.flag is not None and _ALIASES.get(one.flag, one.flag) == _ALIASES.get(flag, flag)


def occurrence(parsed: Parsed, flag: str | None) -> Occurrence | None:
    """Where the option stands in the command line; of several the last, which wins."""
    return next((one for one in reversed(parsed.occurrences) if names_option(one, flag)), None)


def put(parsed: Parsed, length: int, flag: str, value: str | None) -> Edit:
    """Sets an option: in the place where it stands, else behind the last of the `length` words."""
    words = (flag,) if value is None else (flag, value)
    found = occurrence(parsed, flag)
    return Edit(length, 0, words) if found is None else Edit(found.index, found.length, words)
