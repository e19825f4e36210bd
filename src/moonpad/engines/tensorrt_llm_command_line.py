"""What command lines of others say of TensorRT-LLM."""

from __future__ import annotations

from typing import Final

from moonpad.engines.command_line import CommandLine, Program
from moonpad.engines.tensorrt_llm_read import COMMANDS, PROGRAM

TENSORRT_LLM: Final = CommandLine(
    options={
        "tp": "--tp_size",
        "pp": "--pp_size",
        "ep": "--ep_size",
        "max_model_len": "--max_seq_len",
        "max_num_seqs": "--max_batch_size",
        "max_num_batched_tokens": "--max_num_tokens",
        "kv_free_fraction": "--kv_cache_free_gpu_memory_fraction",
    },
    programs=(
        Program(name=PROGRAM, label="TensorRT-LLM", commands=(*COMMANDS, "trtllm-serve serve")),
        Program(name="trtllm-disaggregated", kind="router", commands=("trtllm-serve disaggregated",)),
    ),
    names=("tensorrt[-_]llm", "trt-?llm"),
    images=("tensorrt-llm(?:/[a-z-]{1,30})?",),
    launchers=("trtllm-llmapi-launch",),
)
