"""Whose log it is, by the words that only one engine's have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_OWN: Final = (
    ("vllm-ascend", re.compile(r"vllm[_-]ascend|torch_npu|\bNPU|\bHCCL|aclnn|\bCANN\b")),
    ("ktransformers", re.compile(r"ktransformers|\bkt[_-]kernel|cpuinfer")),
    ("tensorrt-llm", re.compile(r"trtllm|tensorrt_llm|TensorRT-LLM|\[TRT")),
    ("sglang", re.compile(r"sglang|launch_server|mem_fraction_static|sgl_kernel")),
    ("vllm", re.compile(r"\bvllm\b|VllmWorker|EngineCore")),
    ("llama-cpp", re.compile(r"llama[_-](?:server|model|load|init|context)|ggml_|llama\.cpp|print_info:")),
)


def engine_of(lines: Sequence[str]) -> str:
    """By the words that occur most; "" where none does. Those that build on another engine name it too."""
    counts = {name: sum(bool(pattern.search(line)) for line in lines) for name, pattern in _OWN}
    for name in ("vllm-ascend", "ktransformers", "tensorrt-llm"):
        if counts[name] > 1:
            return name
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else ""
