"""What files of other tools call the engines: the keys of their YAML, the words of their commands, their variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

PROGRAM_OF: Final[Mapping[str, str]] = {
    "vllm": "vllm serve",
    "sglang": "sglang",
    "trtllm": "trtllm-serve",
    "tensorrt_llm": "trtllm-serve",
    "tensorrt-llm": "trtllm-serve",
    "llama_cpp": "llama-server",
    "llama-cpp": "llama-server",
}
"""An engine as a YAML file names it → its program in the catalogue."""
GUESSED: Final = ("vllm serve", "sglang", "trtllm-serve")
"""Programs that options without any name may be for."""
MARKING: Final = ("vllm", "sglang")
"""Names that are the beginning of keys: `vllmConfig`, `sglang_args`."""
UNNAMED: Final = "vllm"
"""What Ray Serve (`model_loading_config`) and FlagScale (`engine_args_specific`) start without naming it."""
OPTION_KEYS: Final = frozenset({
    *("engine_args", "engine_kwargs", "engine_args_specific", "vllm_args", "sglang_args", "server_args", "serve_args"),
    *("vllmConfig", "vllm_config", "sglang_config", "extra_args", "args", "parameters", "flags", "options"),
})  # fmt: skip
OF_ROLES: Final = "trtllm-serve"
"""The program whose options stand under `ctx` and `gen`, named as `ROLE_OPTIONS` has them."""
ROLE_OPTIONS: Final[Mapping[str, str]] = {
    "tensor_parallel_size": "--tp_size",
    "pipeline_parallel_size": "--pp_size",
    "moe_expert_parallel_size": "--ep_size",
}
MODEL_BY_PATH: Final = "sglang"
"""The program that takes --model-path in place of --model."""
FILE_OF_FLAGS: Final = ("vllm serve", "sglang")
"""Programs whose --config FILE holds options of the command line."""
PYTHON_CLASSES: Final[Mapping[str, Mapping[str, str]]] = {
    "LLM": {"vllm": "vllm serve", "tensorrt_llm": "trtllm-serve"},
    "EngineArgs": {"vllm": "vllm serve"},
    "AsyncEngineArgs": {"vllm": "vllm serve"},
    "Engine": {"sglang": "sglang"},
    "Runtime": {"sglang": "sglang"},
    "ServerArgs": {"sglang": "sglang"},
    "TorchLlmArgs": {"tensorrt_llm": "trtllm-serve"},
    "LlmArgs": {"tensorrt_llm": "trtllm-serve"},
    "LLMConfig": {},
    "vLLMEngineProcessorConfig": {},
}
"""Classes whose arguments are an engine's options: the module that they are from → the program that takes the same. Of
those of Ray the options stand in `engine_kwargs`."""
PYTHON_ALIASES: Final[Mapping[str, str]] = {"sgl": "sglang", "sglang": "sglang", "vllm": "vllm"}
"""What modules are called where no import is shown."""
RAY_MARKS: Final = frozenset(
    {"model_loading_config", "accelerator_type", "deployment_config", "model_source", "model_id"}
)
OPTION_NAMES: Final = frozenset({
    *("engine_args", "engine_kwargs", "vllm_args", "vllm_kwargs", "sglang_args", "sglang_kwargs", "server_args"),
    *("llm_kwargs", "llm_args", "vllm_config", "engine_config", "model_kwargs"),
})  # fmt: skip
"""What dictionaries of options are called in programs."""
WHOLE_HISTORY: Final = frozenset({"vllm serve"})
"""Programs of which every release of two years is recorded: what none has, no release has."""
SPEAKING: Final = re.compile(
    r"(?:vllm serve|-m vllm\.|sglang serve|sglang\.launch_server|trtllm-serve|llama-server(?:\.exe)?|kt run)\s+\S"
)
"""What a line with a whole command has in it."""
MENTION: Final = re.compile(r"vllm|sglang|trtllm|llama-server|\bkt\b")
VARIABLES: Final = re.compile(
    r"(?:VLLM|SGLANG|SGL|NCCL|CUDA|HIP|ROCR|HSA|AITER|HCCL|ASCEND|LLAMA|TRTLLM|TLLM|PYTORCH|TORCH|RAY|GLOO|UCX|OMP"
    r"|NVSHMEM|DG|DEEPEP|SAFETENSORS|HF_HUB|KT)_\w+"
)
"""Variables that may change how an engine runs."""
EXAMPLES: Final = "vllm serve, sglang serve …"

TRUST_OPTION: Final[Mapping[str, str]] = {
    "vllm": "--trust-remote-code",
    "sglang": "--trust-remote-code",
    "tensorrt-llm": "--trust_remote_code",
}
CHECKED: Final = frozenset({"vllm", "vllm-ascend", "sglang", "ktransformers", "tensorrt-llm"})
"""Engines whose command lines name checkpoints and parsers as Hugging Face has them."""
EXPERTS_BY_OPTION: Final = "sglang"
"""It says by an option alone which kernels exchange tokens between experts; the next one by a variable too."""
EXPERTS_BY_VARIABLE: Final = "vllm"
EXPERTS_VARIABLE: Final = "VLLM_ALL2ALL_BACKEND"
EXPERTS_TITLE: Final = "vLLM"
AITER: Final = "VLLM_ROCM_USE_AITER"
AITER_MLA: Final = "VLLM_ROCM_USE_AITER_MLA"
"""Variables of the same engine for AMD devices."""
