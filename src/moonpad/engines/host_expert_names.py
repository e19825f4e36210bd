"""Words of the engine that keeps experts in host memory: its server and chat of 2025, and its present options."""

from __future__ import annotations

import re
from typing import Final

THREADS: Final = ("--kt-cpuinfer", "--cpu_infer")
POOLS: Final = "--kt-threadpool-count"
NODES: Final = "--kt-numa-nodes"

ON_DEVICES: Final = "--kt-num-gpu-experts"
PREFILL_FROM: Final = "--kt-gpu-prefill-token-threshold"
"""Prompts of more tokens are computed on the devices alone, to which the experts of a layer are brought."""
METHOD: Final = "--kt-method"
WEIGHTS: Final = "--kt-weight-path"
FORMER: Final = {METHOD: "--kt-amx-method", WEIGHTS: "--kt-amx-weight-path"}
"""What releases of 2025 called them."""
READS_INT4: Final = "RAWINT4"
"""The method that reads the publisher's INT4 files."""
READS_GGUF: Final = ("LLAMAFILE",)
READS_CONVERTED: Final = ("AMXINT4", "AMXINT8", "MOE_INT4", "MOE_INT8")
"""Methods that read GGUF files, and those that read experts as kt-kernel's scripts have written them: its
python/utils/llamafile.py, amx.py and moe_kernel.py (SafeTensorLoader.load_experts) of August 2026."""
STEP_OF_METHOD: Final = {"AMXINT4": 128, "AMXINT8": 64}
"""Columns of an expert that a pool's kernels take at once: twice K_STEP with four bits, K_STEP with eight
(operators/amx/la of kt-kernel)."""
GGUF_BLOCK: Final = 256
"""QK_K, the weights of a block of K formats, which no pool gets less than one of."""
BYTES_OF_METHOD: Final = {"FP8": 1.0, "FP8_PERCHANNEL": 1.0, "BF16": 2.0}
"""Of a weight on the devices, where the experts in RAM are read from the same files."""
FILE_FOR_FOLDER: Final = "0.2.2"
"""The first release that takes the folder of a file that is named in place of the folder."""
FILES: Final = ("--gguf_path", "--model", "--kt-weight-path")
"""Options that name GGUF files, or their folder."""
EXPERTS: Final = ("--kt-weight-path", "--kt-amx-weight-path")
"""The folder of the experts that the processors compute."""

COPIES: Final = re.compile(r"(?<![A-Za-z])(?:USE_)?NUMA=1\b")
"""Switches of a build that keeps the experts once for each node: https://github.com/kvcache-ai/ktransformers/issues/321."""
RULES: Final = ("--optimize_config_path", "--optimize_rule_path")
OLD_PROGRAMS: Final = ("ktransformers-legacy", "ktransformers-chat")
"""The server and the chat of 2025, which have no options for shares of the memory."""
OF_SHARES: Final = "--mem-fraction-static"
LESS_ON_DEVICES: Final = (
    "take rules that lay less on each device (--optimize_config_path with a file for several devices), a smaller "
    "--chunk_size, --cache_lens or --max_new_tokens, or devices with more memory"
)
"""What helps there where the devices' memory is full."""
FEWER_ON_DEVICES: Final = f"lower {ON_DEVICES} first, of which each is an expert of every layer on the devices; then "
"""Where experts lie on the devices, they are what fills them."""
BACKEND: Final = "--backend_type"
MANY: Final = "balance_serve"
"""The backend for several requests at once. Its files of rules have `-serve` in their names."""
CHAT: Final = "local_chat"
FOLDER: Final = "--gguf_path"
MODEL: Final = "--model_path"
CHUNK: Final = "--chunk_size"
CHUNK_STEP: Final = 1024
BATCH: Final = "--max_batch_size"
CACHE: Final = "--cache_lens"
ANSWER: Final = "--max_new_tokens"
TRUTHS: Final = ("--web", "--no_flash_attn", "--low_mem", "--load_q4", "--cache_8bit", "--cache_q4")
"""Options of the type bool of argparse: any text is true, `False` too."""
OF_AMX: Final = ("AMXINT4", "AMXINT8")
"""Methods for processors with AMX: «Intel CPUs with AMX» of kt-kernel's README, which has BLIS for AMD's."""
BRINGS_KERNELS: Final = re.compile(r"kt[-_]kernel|ktransformers|sglang-kt|\bkt[ ]run\b|install\.sh", re.IGNORECASE)
FAMILIES_OF_MODELS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("DeepSeek-V3", re.compile(r"deepseek[-_]?(?:v3|r1(?![-_]distill))|kimi[-_]?k2", re.IGNORECASE)),
    ("DeepSeek-V2", re.compile(r"deepseek[-_]?(?:coder[-_])?v2", re.IGNORECASE)),
    ("Qwen3-MoE", re.compile(r"qwen3[-_](?:235b|30b)", re.IGNORECASE)),
    ("Mixtral", re.compile(r"mixtral", re.IGNORECASE)),
)
"""By their names; Kimi-K2 has the classes of DeepSeek-V3, and its guide takes that file."""
FAMILIES_OF_RULES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("DeepSeek-V3", re.compile(r"deepseek[-_]v3", re.IGNORECASE)),
    ("DeepSeek-V2", re.compile(r"deepseek[-_]v2", re.IGNORECASE)),
    ("Qwen3-MoE", re.compile(r"qwen3moe", re.IGNORECASE)),
    ("Mixtral", re.compile(r"mixtral", re.IGNORECASE)),
)
"""ktransformers/optimize/optimize_rules of the server of 2025."""
OF_KIMI: Final = "RAWINT4"
NOT_IN_INT4: Final = re.compile(r"deepseek[-_](?:v3|r1)|minimax[-_]m2|glm[-_][45]|qwen3", re.IGNORECASE)
"""Models whose publishers give FP8 or BF16."""
IN_INT4: Final = re.compile(r"int4|w4|4bit|awq|gptq|nvfp4|mxfp4|q4|kimi", re.IGNORECASE)
BRINGS_ENGINE: Final = re.compile(
    r"\bpip3?[ ]install\b.*?[\s\"']sglang(?:\[\w+\])?(?:[=<>~]=?[\w.]+)?(?=[\s\"']|$)", re.ASCII
)
"""A line that installs the engine without the kernels."""
WITHOUT_KERNELS: Final = (
    "sglang by itself reads these options and brings no kt-kernel: the start ends (kt_kernel is not installed)",
    "pip install kt-kernel too, or install sglang-kt in the place of sglang",
)
FOR_AMD: Final = (
    "write --kt-method MOE_INT8 with kt-kernel built for BLIS, RAWINT4, FP8 or BF16 for published weights, or "
    "LLAMAFILE with a GGUF"
)
