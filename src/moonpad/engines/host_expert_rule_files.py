"""The files of rules that KTransformers of 2025 brings, below ktransformers/optimize/optimize_rules/.

Source: https://github.com/kvcache-ai/ktransformers, every file that a commit up to v0.7.0 has added there.
"""

from __future__ import annotations

from typing import Final

# fmt: off
RULE_FILES: Final = frozenset((
    "DeepSeek-V2-Chat", "DeepSeek-V2-Chat-multi-gpu", "DeepSeek-V2-Chat-multi-gpu-4", "DeepSeek-V2-Chat-sft-amx",
    "DeepSeek-V2-Chat-XPU", "DeepSeek-V2-Lite-Chat", "DeepSeek-V2-Lite-Chat-gpu-cpu",
    "DeepSeek-V2-Lite-Chat-multi-gpu", "DeepSeek-V2-Lite-Chat-sft", "DeepSeek-V2-Lite-Chat-sft-amx",
    "DeepSeek-V2-Lite-Chat-sft-amx-multi-gpu", "DeepSeek-V2-Lite-Chat-use-adapter", "DeepSeek-V3-Chat",
    "DeepSeek-V3-Chat-300IA2-npu", "DeepSeek-V3-Chat-300IA2-npu-serve", "DeepSeek-V3-Chat-800IA2-npu",
    "DeepSeek-V3-Chat-800IA2-npu-serve", "DeepSeek-V3-Chat-amx", "DeepSeek-V3-Chat-amx-defer",
    "DeepSeek-V3-Chat-amx-defer-serve", "DeepSeek-V3-Chat-amx-serve", "DeepSeek-V3-Chat-dcu",
    "DeepSeek-V3-Chat-fp8-linear-ggml-experts", "DeepSeek-V3-Chat-fp8-linear-ggml-experts-serve",
    "DeepSeek-V3-Chat-fp8-linear-ggml-experts-serve-amx", "DeepSeek-V3-Chat-multi-gpu",
    "DeepSeek-V3-Chat-multi-gpu-4", "DeepSeek-V3-Chat-multi-gpu-8",
    "DeepSeek-V3-Chat-multi-gpu-fp8-linear-ggml-experts", "DeepSeek-V3-Chat-multi-gpu-marlin",
    "DeepSeek-V3-Chat-npu", "DeepSeek-V3-Chat-serve", "DeepSeek-V3-Chat-sft-amx",
    "DeepSeek-V3-Chat-sft-amx-multi-gpu", "DeepSeek-V3-Chat-sft-amx-multi-gpu-4", "ds2_bf16_2+4", "ds2_bf16_6+0",
    "ds2_int8_2+4", "ds2_int8_6+0", "ds3_bf16_5+3", "ds3_bf16_8+0", "ds3_int4_2+6", "ds3_int4_8+0",
    "Glm4Moe-serve", "Hunyuan-serve-amx", "Internlm2_5-7b-Chat-1m", "Llama4-serve", "Mixtral", "Moonlight-16B-A3B",
    "Moonlight-16B-A3B-serve", "qw2_bf16_6+2", "qw2_bf16_8+0", "qw2_int8_4+4", "qw2_int8_8+0",
    "Qwen2-57B-A14B-Instruct", "Qwen2-57B-A14B-Instruct-multi-gpu", "Qwen2-57B-A14B-Instruct-serve", "Qwen2-serve",
    "Qwen2-serve-amx", "Qwen3-30B-A3B", "Qwen3-Chat-300IA2-npu-serve", "Qwen3Moe-Chat", "Qwen3Moe-serve",
    "Qwen3Moe-serve-amx", "Qwen3Moe-sft-amx", "Qwen3Next-serve", "Smallthinker-serve",
))
# fmt: on
"""Without `.yaml`."""
