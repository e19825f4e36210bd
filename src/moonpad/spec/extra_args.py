"""Arguments that go to the engine as they are, and those for which the spec has a key of its own.

A flag that stands in both places would make the plan say one thing and the engine do another: argparse takes the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from moonpad.spec.texts import refuse_invisible

KEY_FOR_FLAG: Final[Mapping[str, str]] = {
    "--api-key": "api_key_env or api_key_file in [endpoint]",
    "--admin-api-key": "api_key_env or api_key_file in [endpoint]",
    "--hf-token": "HF_TOKEN in the environment",
    "--host": "expose in [endpoint]",
    "--port": "port in [endpoint]",
    "--model": "model",
    "--served-model-name": "served_name",
    "--tensor-parallel-size": "tp in [layout]",
    "--pipeline-parallel-size": "pp in [layout]",
    "--data-parallel-size": "dp in [layout]",
    "--decode-context-parallel-size": "dcp in [layout]",
    "--enable-expert-parallel": "expert_parallel in [layout]",
    "--max-model-len": "max_model_len in [settings]",
    "--max-num-seqs": "max_num_seqs in [settings]",
    "--max-num-batched-tokens": "max_num_batched_tokens in [settings]",
    "--gpu-memory-utilization": "gpu_memory_utilization in [settings]",
    "--kv-cache-dtype": "kv_cache_dtype in [settings]",
    "--enforce-eager": "enforce_eager in [settings]",
    "--enable-prefix-caching": "prefix_caching in [settings]",
    "--attention-backend": "attention_backend in [settings]",
    "--block-size": "block_size in [settings]",
    "--trust-remote-code": "trust_remote_code",
    # SGLang's, KTransformers' and TensorRT-LLM's own names for the same.
    "--model-path": "model",
    "--tp-size": "tp in [layout]",
    "--pp-size": "pp in [layout]",
    "--dp-size": "dp in [layout]",
    "--attn-dp-size": "dp in [layout]",
    "--ep-size": "ep in [layout]",
    "--context-length": "max_model_len in [settings]",
    "--max-seq-len": "max_model_len in [settings]",
    "--max-running-requests": "max_num_seqs in [settings]",
    "--max-batch-size": "max_num_seqs in [settings]",
    "--chunked-prefill-size": "max_num_batched_tokens in [settings]",
    "--max-num-tokens": "max_num_batched_tokens in [settings]",
    "--mem-fraction-static": "gpu_memory_utilization in [settings]",
    "--kv-cache-free-gpu-memory-fraction": "kv_free_fraction in [settings]",
    "--page-size": "block_size in [settings]",
    "--disable-cuda-graph": "enforce_eager in [settings]",
    "--disable-radix-cache": "prefix_caching in [settings]",
    "--ep-num-redundant-experts": "redundant_experts in [settings]",
    "--kt-num-gpu-experts": "gpu_experts in [settings]",
}
_SHORT: Final = {
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "-dp": "--data-parallel-size",
    "-dcp": "--decode-context-parallel-size",
    "-ep": "--enable-expert-parallel",
}
# argparse takes any unambiguous beginning of a flag; shorter beginnings than this are never unambiguous in vLLM.
_SHORTEST_BEGINNING: Final = len("--xx")


def check_extra_args(args: Iterable[str]) -> None:
    """Raises ValueError that names the key to use instead; never repeats a value, which may be a key."""
    for arg in args:
        refuse_invisible(arg)
        if (flag := flag_with_a_key(arg)) is not None:
            raise ValueError(f"must not hold {flag}; use {KEY_FOR_FLAG[flag]}")


def flag_with_a_key(arg: str) -> str | None:
    """The flag that the spec has a key for, however it is spelled: `--api_key=x`, `--api-k`, `-tp`, `--no-…`."""
    if not arg.startswith("-"):
        return None
    written = arg.split("=", 1)[0].replace("_", "-")
    written = _SHORT.get(written, written)
    if written.startswith("--no-"):
        written = f"--{written.removeprefix('--no-')}"
    if written in KEY_FOR_FLAG:
        return written
    if len(written) < _SHORTEST_BEGINNING:
        return None
    return next((flag for flag in KEY_FOR_FLAG if flag.startswith(written)), None)
