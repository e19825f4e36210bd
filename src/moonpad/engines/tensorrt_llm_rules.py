"""What TensorRT-LLM alone refuses."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, unsupported


def int4_engine(configuration: Configuration) -> Iterator[Finding]:
    if configuration.scheme in ("int4", "w4a16"):
        yield unsupported(
            "quantization",
            "INT4 in compressed-tensors: tensorrt-llm reads 8-bit FP8, NVFP4 and MXFP4 of that kind",
            "take the NVFP4 checkpoint on Blackwell, or an FP8 one",
        )
