"""Parsers of reasoning that pass an answer without marks of thinking on as it is; the others take it for thoughts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PASSES_ON: Final[Mapping[str, Mapping[str, str]]] = {
    "vllm": {"deepseek_v3": "", "qwen3": "0.17.0"},
    "sglang": {"deepseek-v3": "", "qwen3": "", "glm45": ""},
}
"""Engine → parser → the first release in which it does so no more. vLLM's deepseek_v3 waits for thoughts only where a
request asks for them (reasoning/deepseek_v3_reasoning_parser.py of 0.32.0), its qwen3 begins in thought unless one
says no (parser/qwen3.py of 0.32.0; from https://github.com/vllm-project/vllm/pull/35230). SGLang's wait where they are
told to (force_reasoning of python/sglang/srt/parser/reasoning_parser.py)."""
