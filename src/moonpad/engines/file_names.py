"""Options that take files of settings or name the model, and what engines pass over or want in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FILES_OF_SETTINGS: Final = frozenset({
    *("--extra_llm_api_options", "--extra-llm-api-options", "--extra-engine-args", "--metadata_server_config_file"),
})  # fmt: skip
"""Options that are opened as files of settings, and take nothing else."""
_ENDS: Final = "no model is named, and the option is required: the start ends"
WITHOUT_MODEL: Final[Mapping[str, tuple[str, str]]] = {
    "sglang": ("--model-path", _ENDS),
    "tensorrt-llm": ("MODEL", "no model is named: the start ends (Missing argument 'MODEL')"),
    "vllm": ("--model", "no model is named: what is served is the engine's default, a small model"),
}
"""Engines → the option of the model, and what they do without it: `required=True` of SGLang's --model-path,
click.argument("model") of trtllm-serve, ModelConfig.model of vLLM (Qwen/Qwen3-0.6B from 0.9.1 on,
facebook/opt-125m before)."""
SERVED_BY_DEFAULT: Final = (("0.9.1", "Qwen/Qwen3-0.6B"), ("0.0.0", "facebook/opt-125m"))
"""The model that vLLM serves where none is named: the first release, and the model."""
ALSO_MODEL: Final = frozenset({
    *("--config", "--model", "--model-path", "--model_path", "--model-tag", "--help", "-h", "--version", "-v"),
    *("--model-name", "--model_name"),
})  # fmt: skip
"""Options by which a model may come all the same, or none is wanted."""
FORMATS_OF_METHODS: Final[Mapping[str, tuple[str, ...]]] = {
    "RAWINT4": ("compressed-tensors", "int4"),
    "BF16": ("bf16",),
    "FP8": ("fp8",),
}
"""Methods of the engine that keeps experts in RAM → `quant_method` of the published weights that they read."""
METHOD_OF_FORMAT: Final[Mapping[str, str]] = {"fp8": "FP8", "bf16": "BF16"}
PASSED_OVER: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "attn_backend": (("TRTLLM", "FLASHINFER", "VANILLA", "FLASHINFER_STAR_ATTENTION"), "TRTLLM"),
}
"""Keys of option files that take any text → the names, and what stands for another: get_attention_backend of
TensorRT-LLM's _torch/attention_backend/utils.py."""
