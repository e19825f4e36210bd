"""What programs write that use an engine as a library: its classes, and arguments that these do not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BASE: Final = "vllm"
"""The engine whose library is read; a plugin has the same classes."""
SPAWN: Final = ("VLLM_WORKER_MULTIPROC_METHOD", "spawn")
"""The variable that says how the engine starts its processes, and the value for fresh ones."""
NO_PROCESSES: Final = "VLLM_ENABLE_V1_MULTIPROCESSING"
SLEEPS: Final = "--enable-sleep-mode"

# read: vllm 0.11.0 and 0.32.0, sampling_params.py: class SamplingParams, whose fields are all named.
NOT_OF_SAMPLING: Final[Mapping[str, str]] = {
    "max_new_tokens": "max_tokens",
    "max_length": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "num_return_sequences": "n",
    "stop_sequences": "stop",
    "stop_words": "stop",
    "eos_token_id": "stop_token_ids",
    "top_logprobs": "logprobs",
    "do_sample": "",
    "num_beams": "",
    "pad_token_id": "",
    "response_format": "",
    "guided_json": "",
    "chat_template_kwargs": "",
}
"""Names of other libraries, and the one that it has in their place; "" where leaving it out is all."""
OF_SAMPLING: Final = frozenset(
    {
        *("temperature", "top_p", "top_k", "min_p", "max_tokens", "min_tokens", "stop", "n", "repetition_penalty"),
        *("presence_penalty", "frequency_penalty", "ignore_eos", "skip_special_tokens", "max_new_tokens"),
    }
)
"""What belongs into SamplingParams, and generate() and chat() do not take."""

# read: vllm 0.11.0 and 0.32.0, entrypoints (FrontendArgs), against the fields of EngineArgs and AsyncEngineArgs.
OF_SERVER: Final = frozenset(
    {
        *("host", "port", "api_key", "enable_auto_tool_choice", "tool_call_parser", "tool_parser_plugin"),
        *("lora_modules", "response_role", "uvicorn_log_level", "root_path", "ssl_keyfile", "ssl_certfile"),
        *("middleware", "allowed_origins", "return_tokens_as_token_ids", "disable_frontend_multiprocessing"),
        *("enable_request_id_headers", "chat_template_content_format", "default_chat_template_kwargs"),
    }
)
"""Options of the server that no engine in a program has."""
NOT_OF_ENGINE: Final[Mapping[str, str]] = {
    "tensor_parallel": "tensor_parallel_size",
    "tensor_parallelism": "tensor_parallel_size",
    "tensor_parallel_degree": "tensor_parallel_size",
    "tp": "tensor_parallel_size",
    "tp_size": "tensor_parallel_size",
    "pipeline_parallel": "pipeline_parallel_size",
    "pp_size": "pipeline_parallel_size",
    "gpu_memory": "gpu_memory_utilization",
    "gpu_memory_util": "gpu_memory_utilization",
    "gpu_memory_fraction": "gpu_memory_utilization",
    "gpu_mem_utilization": "gpu_memory_utilization",
    "mem_fraction_static": "gpu_memory_utilization",
    "max_seq_len": "max_model_len",
    "max_sequence_length": "max_model_len",
    "max_model_length": "max_model_len",
    "max_context_len": "max_model_len",
    "context_length": "max_model_len",
    "model_path": "model",
    "model_name": "model",
    "model_name_or_path": "model",
    "max_batch_size": "max_num_seqs",
    "torch_dtype": "dtype",
    "quantisation": "quantization",
    "device_map": "",
    "load_in_4bit": "",
    "load_in_8bit": "",
    "attn_implementation": "",
}
"""Names that no release of the engine has had, and those that are meant."""
WHOLE_NUMBERS: Final = ("max_model_len", "max_num_seqs", "max_num_batched_tokens", "tensor_parallel_size")
"""Arguments that programs give as numbers: letters behind one are read on a command line alone."""
ADAPTERS: Final = "--enable-lora"
ADAPTER_LIST: Final = "--lora-modules"
ADAPTER_RANK: Final = "--max-lora-rank"
USUAL_RANK: Final = 16
ADAPTER_RANKS: Final = (8, 16, 32, 64, 128, 256, 320, 512)
"""The choices of --max-lora-rank (config/lora.py: MaxLoRARanks)."""
