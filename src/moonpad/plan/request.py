"""What a person asks the planner for, read from the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeVar

from moonpad.spec.nearest import nearest
from moonpad.spec.texts import shorten
from moonpad.values.choice import Goal
from moonpad.values.errors import UsageError

LAYOUT_KEYS: Final[Mapping[str, str]] = {
    "tp": "tp",
    "tensor_parallel_size": "tp",
    "tp_size": "tp",
    "pp": "pp",
    "pipeline_parallel_size": "pp",
    "pp_size": "pp",
    "dp": "dp",
    "data_parallel_size": "dp",
    "dp_size": "dp",
    "ep": "ep",
    "ep_size": "ep",
    "expert_parallel_size": "ep",
    "dcp": "dcp",
    "dcp_size": "dcp",
    "decode_context_parallel_size": "dcp",
}
"""Our keys, and the engines' own names for them."""

# Our names are those of vLLM where it has one; then SGLang's, TensorRT-LLM's and KTransformers' own.
SETTING_KEYS: Final[Mapping[str, str]] = {
    "max_model_len": "max_model_len",
    "context_length": "max_model_len",
    "max_seq_len": "max_model_len",
    "max_num_seqs": "max_num_seqs",
    "max_running_requests": "max_num_seqs",
    "max_batch_size": "max_num_seqs",
    "max_num_batched_tokens": "max_num_batched_tokens",
    "chunked_prefill_size": "max_num_batched_tokens",
    "max_num_tokens": "max_num_batched_tokens",
    "gpu_memory_utilization": "gpu_memory_utilization",
    "mem_fraction_static": "gpu_memory_utilization",
    "kv_free_fraction": "kv_free_fraction",
    "kv_cache_free_gpu_memory_fraction": "kv_free_fraction",
    "kv_cache_dtype": "kv_cache_dtype",
    "kv_cache_gib": "kv_cache_gib",
    "vllm_cpu_kvcache_space": "kv_cache_gib",
    "enforce_eager": "enforce_eager",
    "disable_cuda_graph": "enforce_eager",
    "prefix_caching": "prefix_caching",
    "enable_prefix_caching": "prefix_caching",
    "disable_radix_cache": "prefix_caching",
    "attention_backend": "attention_backend",
    "block_size": "block_size",
    "page_size": "block_size",
    "redundant_experts": "redundant_experts",
    "ep_num_redundant_experts": "redundant_experts",
    "text_only": "text_only",
    "language_model_only": "text_only",
    "draft_tokens": "draft_tokens",
    "num_speculative_tokens": "draft_tokens",
    "gpu_experts": "gpu_experts",
    "kt_num_gpu_experts": "gpu_experts",
}
_INVERTED: Final = frozenset({"disable_radix_cache"})
_FRACTIONS: Final = frozenset({"gpu_memory_utilization", "kv_free_fraction"})
_SWITCHES: Final = frozenset({"enforce_eager", "prefix_caching", "text_only"})
_TEXTS: Final = frozenset({"kv_cache_dtype", "attention_backend"})
_ZERO_TOO: Final = frozenset({"redundant_experts", "draft_tokens", "gpu_experts"})

_TOKENS: Final = re.compile(r"([0-9][0-9_,]{0,15})([km]?)", re.ASCII | re.IGNORECASE)
_TIMES: Final = {"": 1, "k": 1 << 10, "m": 1 << 20}
MAX_COUNT: Final = 2**31 - 1

Value = int | float | bool | str
V = TypeVar("V", int, Value)


@dataclass(frozen=True, slots=True)
class Request:
    """What to plan for. `layout` and `settings` hold what the person fixed; the rest is the planner's to choose.

    `context` None: the longest that fits. `engine` "auto": all of them. `engine_version` "": the one that we know best.
    """

    goal: Goal = "latency"
    engine: str = "auto"
    engine_version: str = ""
    context: int | None = None
    concurrency: int | None = None
    layout: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, Value] = field(default_factory=dict)
    every_layout: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", MappingProxyType(dict(self.layout)))
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))


def parse_tokens(text: str, what: str = "--context") -> int:
    """A number of tokens: `262144`, `128k` (131,072), `1m`. As model cards do, k is 1024.

    Raises:
        UsageError: the text is no such number, or none that a context could have.
    """
    found = _TOKENS.fullmatch(text.strip())
    count = int(re.sub("[_,]", "", found[1])) * _TIMES[found[2].lower()] if found else 0
    if not 1 <= count <= MAX_COUNT:
        raise UsageError(f'{what} "{shorten(text)}" is no number of tokens', remedy="write 32768 or 32k")
    return count


def parse_set(words: Iterable[str]) -> tuple[dict[str, int], dict[str, Value]]:
    """(layout, settings) of `key=value` words, by our names.

    Raises:
        UsageError: an unknown key (with the nearest right one), a value of the wrong kind, or two values for one key.
    """
    layout: dict[str, int] = {}
    settings: dict[str, Value] = {}
    for word in words:
        written, equals, text = word.partition("=")
        if not equals:
            raise UsageError(f'--set takes key=value, found "{shorten(word)}"', remedy="write --set tp=8")
        key = written.strip().lstrip("-").replace("-", "_").lower()
        text = text.strip()
        if key in LAYOUT_KEYS:
            _put(layout, LAYOUT_KEYS[key], _count(key, text), word)
        elif key in SETTING_KEYS:
            value = _value(SETTING_KEYS[key], key, text)
            _put(settings, SETTING_KEYS[key], not value if key in _INVERTED else value, word)
        else:
            raise _unknown(written)
    return layout, settings


def _put(found: dict[str, V], name: str, value: V, word: str) -> None:
    if found.setdefault(name, value) != value:
        raise UsageError(f"--set gives {name} twice: {found[name]}, then {shorten(word)}", remedy="leave one out")


def _unknown(written: str) -> UsageError:
    if written.strip("-").replace("-", "_") in ("expert_parallel", "enable_expert_parallel"):
        return UsageError(f"--set {written}: say over how many ranks", remedy="write --set ep=8")
    near = nearest(written.strip("-"), (*LAYOUT_KEYS, *SETTING_KEYS))
    hint = f'; did you mean "{near}"?' if near else ""
    known = ", ".join(dict.fromkeys((*LAYOUT_KEYS.values(), *SETTING_KEYS.values())))
    return UsageError(f'--set: unknown key "{shorten(written)}"{hint}', remedy=f"one of {known}")


def _value(name: str, written: str, text: str) -> Value:
    if name in _TEXTS:
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,63}", text, re.ASCII):
            raise UsageError(f'--set {written}: "{shorten(text)}" is no name', remedy=f"write --set {written}=auto")
        return text
    if name in _SWITCHES:
        if text.lower() not in ("true", "false"):
            raise UsageError(f'--set {written}: "{shorten(text)}" is neither true nor false')
        return text.lower() == "true"
    if name in _FRACTIONS:
        return _fraction(written, text)
    if name in ("max_model_len", "max_num_batched_tokens"):
        return parse_tokens(text, f"--set {written}:")
    return _count(written, text, at_least=0 if name in _ZERO_TOO else 1)


def _fraction(written: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:  # NaN is refused too
        raise UsageError(
            f'--set {written}: "{shorten(text)}" is no fraction above 0 and at most 1', remedy=f"--set {written}=0.9"
        )
    return value


def _count(written: str, text: str, at_least: int = 1) -> int:
    value = int(text) if re.fullmatch(r"[0-9]{1,10}", text, re.ASCII) else -1
    if not at_least <= value <= MAX_COUNT:
        raise UsageError(f'--set {written}: "{shorten(text)}" is no whole number of {at_least} or more')
    return value
