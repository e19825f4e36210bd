"""Whose log it is, by the words that only one engine's have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_OWN: Final = (
    ("vllm-ascend", re.compile(r"vllm[_-]ascend|torch_npu|\bNPU|\bHCCL|aclnn|\bCANN\b")),
    ("ktransformers", re.compile(r"ktransformers|\bkt[_-]kernel|cpuinfer")),
    ("tensorrt-llm", re.compile(r"trtllm|tensorrt_llm|TensorRT-LLM|\[TRT")),
    (
        "sglang",
        re.compile(
            r"sglang|launch_server|mem[_-]fraction[_-]static|sgl_kernel"
            r"|Load weight (?:begin|end)\b.{1,60}(?:avail mem|elapsed)="
            r"|\d\d:\d\d:\d\d(?: [DTPE]P\d{1,4})+\]"
        ),
    ),
    (
        "vllm",
        re.compile(
            r"\bvllm\b|\bgpu_memory_utilization\b|VllmWorker|EngineCore|\(Worker(?:_[DTPE]P\d{1,4})+ pid="
            r"|\(APIServer pid="
        ),
    ),
    ("llama-cpp", re.compile(r"llama[_-](?:server|model|load|init|context)|ggml_|llama\.cpp|print_info:")),
)

LOADED: Final = (
    ("vllm serve", ("Starting to load model",), re.compile(r"Starting to load model (?P<model>\S+?)\.\.\.")),
)
"""The program, what stands in a line by which its workers say which model they load, and that line."""
RANKED: Final = re.compile(
    r"rank \d{1,4} in world size (?P<world>\d{1,4}) is assigned as DP rank (?P<dp>\d{1,4}), PP rank (?P<pp>\d{1,4}), "
    r"(?:PCP rank 0, )?TP rank (?P<tp>\d{1,4})"
)
"""By which a worker of vLLM says what it is for."""


def engine_of(lines: Sequence[str]) -> str:
    """By the words that occur most; "" where none does. Those that build on another engine name it too."""
    counts = {name: sum(bool(pattern.search(line)) for line in lines) for name, pattern in _OWN}
    for name in ("vllm-ascend", "ktransformers", "tensorrt-llm"):
        if counts[name] > 1:
            return name
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else ""
