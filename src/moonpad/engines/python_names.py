"""What the classes of the engines' libraries do not take, and what the same is called there.

Read: SGLang 0.5.23, srt/arg_groups/fields and
srt/sampling/sampling_params.py; TensorRT-LLM, llmapi/llm_args.py and sampling_params.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import force_setattr

from moonpad.engines import library_names


class PythonClass(Struct, frozen=True):
    """`wrong`: an argument that it never had → what it is called there."""

    root: str
    """The package that it is from."""
    names: frozenset[str]
    title: str
    wrong: Mapping[str, str]

    def __post_init__(self) -> None:
        force_setattr(self, "wrong", MappingProxyType(dict(self.wrong)))


VLLM_ENGINE: Final = PythonClass(library_names.BASE, frozenset({"LLM", "EngineArgs", "AsyncEngineArgs"}), "vLLM", {})
"""What it does not take is in library_names.py."""
SGLANG_ENGINE: Final = PythonClass(
    "sglang",
    frozenset({"Engine", "ServerArgs"}),
    "SGLang",
    {
        **dict.fromkeys(("device_map", "num_gpus", "n_gpus"), "tp_size"),
        "torch_dtype": "dtype",
        **dict.fromkeys(("load_in_4bit", "load_in_8bit", "quantization_method"), "quantization"),
        **dict.fromkeys(("tensor_parallel_size", "tensor_parallel", "tp"), "tp_size"),
        **dict.fromkeys(("pipeline_parallel_size", "pp"), "pp_size"),
        **dict.fromkeys(("data_parallel_size", "dp"), "dp_size"),
        **dict.fromkeys(("expert_parallel_size", "ep"), "ep_size"),
        **dict.fromkeys(("max_model_len", "max_seq_len", "max_length", "context_len"), "context_length"),
        **dict.fromkeys(("gpu_memory_utilization", "mem_fraction"), "mem_fraction_static"),
        **dict.fromkeys(("model", "model_name", "model_name_or_path"), "model_path"),
        **dict.fromkeys(("max_num_seqs", "max_batch_size"), "max_running_requests"),
        "max_num_batched_tokens": "chunked_prefill_size",
        "enforce_eager": "disable_cuda_graph",
    },
)
TENSORRT_LLM_ENGINE: Final = PythonClass(
    "tensorrt_llm",
    frozenset({"LLM", "TorchLlmArgs"}),
    "TensorRT-LLM",
    {
        **dict.fromkeys(("tensor_parallel", "tp_size", "tp", "device_map"), "tensor_parallel_size"),
        **dict.fromkeys(("pipeline_parallel", "pp_size", "pp"), "pipeline_parallel_size"),
        **dict.fromkeys(("ep_size", "expert_parallel_size"), "moe_expert_parallel_size"),
        **dict.fromkeys(("max_model_len", "context_length", "max_length"), "max_seq_len"),
        **dict.fromkeys(("max_num_seqs", "max_running_requests"), "max_batch_size"),
        "max_num_batched_tokens": "max_num_tokens",
        **dict.fromkeys(
            ("gpu_memory_utilization", "mem_fraction_static", "free_gpu_memory_fraction"),
            "kv_cache_config=KvCacheConfig(free_gpu_memory_fraction=…)",
        ),
        "kv_cache_dtype": "kv_cache_config=KvCacheConfig(dtype=…)",
        "torch_dtype": "dtype",
    },
)
OTHER_CLASSES: Final = (SGLANG_ENGINE, TENSORRT_LLM_ENGINE)
ENGINE_CLASSES: Final = (VLLM_ENGINE, *OTHER_CLASSES)

SAMPLING_CLASS: Final = PythonClass(
    "tensorrt_llm",
    frozenset({"SamplingParams"}),
    "TensorRT-LLM",
    {
        **dict.fromkeys(("max_new_tokens", "max_length", "max_output_tokens", "max_completion_tokens"), "max_tokens"),
        **dict.fromkeys(("stop_words", "stop_strings", "stop_sequences"), "stop"),
        "num_return_sequences": "n",
        "do_sample": "temperature=0",
    },
)
SAMPLING_OF_TABLE: Final = PythonClass(
    "sglang",
    frozenset({"Engine"}),
    "SGLang",
    {
        **dict.fromkeys(("max_tokens", "max_length", "max_output_tokens", "max_completion_tokens"), "max_new_tokens"),
        "min_tokens": "min_new_tokens",
        "num_return_sequences": "n",
        "do_sample": "temperature 0",
        **dict.fromkeys(("stop_words", "stop_strings", "stop_sequences"), "stop"),
    },
)
"""The one whose `generate` takes the sampling parameters as a dictionary."""
TOKENS_BY_DEFAULT: Final = MappingProxyType({"vllm": 16, "tensorrt_llm": 32})
"""How many tokens its SamplingParams ask for where they do not say it."""
ONE_PROCESS: Final = VLLM_ENGINE
"""Its LLM is one copy of the model: data_parallel_size is for its servers, or for a process a copy."""
ALWAYS_SPAWNS: Final = SGLANG_ENGINE
"""Its engine starts its processes by spawn, whatever the program does: srt/entrypoints/engine.py."""
SPAWNS_BEHIND_CUDA: Final = VLLM_ENGINE
"""Its engine does so where CUDA has been used before it: utils/system_utils.py."""
MAKE_ENGINES: Final = ("from_engine_args", "from_vllm_config")
"""Methods of classes that make an engine."""
EXTERNAL_LAUNCHER: Final = "external_launcher"
MEANT: Final = MappingProxyType(
    {
        "vllm serve": library_names.NOT_OF_ENGINE,
        "trtllm-serve": TENSORRT_LLM_ENGINE.wrong,
    }
)
"""Program → an argument that its library does not have → the one that is meant by it."""
