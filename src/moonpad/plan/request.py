"""What a person asks the planner for, read from the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import force_setattr

from moonpad.catalog.drafts import drafts, known_draft
from moonpad.spec.key_names import LAYOUT_KEYS, SETTING_KEYS, key_names
from moonpad.spec.near_match import nearest
from moonpad.spec.safe_text import shorten
from moonpad.values.draft import DraftSizes
from moonpad.values.errors import UsageError
from moonpad.values.finding import Code
from moonpad.values.plan import Layout
from moonpad.values.plan_answer import Goal

_FRACTIONS: Final = frozenset({"gpu_memory_utilization", "kv_free_fraction"})
_SWITCHES: Final = frozenset({"enforce_eager", "prefix_caching", "text_only"})
_TEXTS: Final = frozenset({"kv_cache_dtype", "attention_backend", "all2all_backend", "cpu_binding"})
_BYTES: Final = frozenset({"kv_cache_bytes"})
_SIZES: Final = frozenset({"cpu_offload_gib", "kv_offload_size", "kv_offload_ratio"})
_ZERO_TOO: Final = frozenset(
    {"redundant_experts", "draft_tokens", "max_loras", "gpu_experts", "host_expert_layers", "device_layers"}
)

_TOKENS: Final = re.compile(r"([0-9][0-9_,]{0,15})([km]?)", re.ASCII | re.IGNORECASE)
_TIMES: Final = {"": 1, "k": 1 << 10, "m": 1 << 20}
USEFUL_CONTEXT: Final = 32768
"""Unasked, nothing costly is turned down once so much fits; for the goal `context` it is the model's own."""
# What the cards of the published drafts and vLLM's recipes for Kimi say, e.g. https://huggingface.co/AQ-MedAI/Kimi-K25-eagle3
# and https://github.com/vllm-project/recipes/pull/347.
DRAFT_TOKENS: Final = 3
MAX_COUNT: Final = 2**31 - 1
MAX_BYTES: Final = 2**53
MAX_SERVERS: Final = 10_000

Value = int | float | bool | str


class Request(Struct, frozen=True):
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
    draft: DraftSizes | None = None
    """What the config.json of a draft says, where it is here."""
    every_layout: bool = False
    despite: frozenset[Code] = frozenset()
    """Errors that the person overrides."""

    def __post_init__(self) -> None:
        force_setattr(self, "layout", MappingProxyType(dict(self.layout)))
        force_setattr(self, "settings", MappingProxyType(dict(self.settings)))


def parse_tokens(text: str, what: str = "--context") -> int:
    """A number of tokens: `262144`, `128k` (131,072), `1m`. As model cards do, k is 1024.

    Raises:
        UsageError: the text is not such a number, or not one that a context could have.
    """
    match = _TOKENS.fullmatch(text.strip())
    count = int(re.sub("[_,]", "", match[1])) * _TIMES[match[2].lower()] if match else 0
    if not 1 <= count <= MAX_COUNT:
        raise UsageError(f'{what} "{shorten(text)}" is not a number of tokens', remedy="write 32768 or 32k")
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
        named = key_names().get(key, "")
        name = named.removeprefix("!")
        if not name:
            raise _unknown(written)
        fixed: dict[str, Any] = layout if name in LAYOUT_KEYS else settings
        value = _value(name, key, text.strip())
        if name != named:
            value = not value
        if fixed.setdefault(name, value) != value:
            raise UsageError(f"--set gives {name} twice: {fixed[name]}, then {shorten(word)}", remedy="leave one out")
    if "draft" in settings:
        settings.setdefault("draft_tokens", DRAFT_TOKENS)
    return layout, settings


def parse_layout(text: str) -> Layout:
    """`TP8`, `TP4 DP2 EP8`, `tp8,dcp8`: what is not named is 1.

    Raises:
        UsageError: it is not a layout.
    """
    sizes: dict[str, int] = {}
    for word in re.split(r"[\s,]+", text.strip().lower()):
        match = re.fullmatch(r"(tp|pp|dp|ep|dcp)=?([0-9]{1,5})", word, re.ASCII)
        if match is None or not int(match[2]) or match[1] in sizes:
            raise UsageError(f'"{shorten(text)}" is not a layout', remedy="write TP8, or TP4 DP2 EP8")
        sizes[match[1]] = int(match[2])
    return Layout(**sizes)


def parse_pool(text: str) -> tuple[int, Layout]:
    """(servers, the layout of each): `2x TP4 EP4`, `TP8`.

    Raises:
        UsageError: it is not one.
    """
    count, times, layout = text.strip().lower().partition("x")
    if not times:
        return 1, parse_layout(text)
    if not (count.strip().isascii() and count.strip().isdecimal() and 1 <= int(count[:6]) <= MAX_SERVERS):
        raise UsageError(f'"{shorten(text)}" is not a pool of servers', remedy='write "2x TP4 EP4"')
    return int(count), parse_layout(layout)


def _unknown(written: str) -> UsageError:
    if written.strip("-").replace("-", "_") in ("expert_parallel", "enable_expert_parallel"):
        return UsageError(f"--set {written}: say over how many ranks", remedy="write --set ep=8")
    near = nearest(written.strip("-"), key_names())
    hint = f'; did you mean "{near}"?' if near else ""
    names = ", ".join((*LAYOUT_KEYS, *SETTING_KEYS))
    return UsageError(f'--set: unknown key "{shorten(written)}"{hint}', remedy=f"one of {names}")


def _value(name: str, written: str, text: str) -> Value:
    if name in ("max_model_len", "max_num_batched_tokens"):
        return parse_tokens(text, f"--set {written}:")
    problem, remedy = f'--set {written}: "{shorten(text)}" is ', ""
    if name in _TEXTS:
        if re.fullmatch(r"[A-Za-z0-9][\w.-]{0,63}", text, re.ASCII):
            return text
        problem, remedy = f"{problem}not a name", f"write --set {written}=auto"
    elif name == "mm_encoder_tp_mode":
        if text in ("data", "weights"):
            return text
        problem += "neither data nor weights"
    elif name == "draft":
        if known := known_draft(text):
            return known
        near = nearest(text.casefold(), drafts())
        problem, remedy = f"{problem}not a draft that moonpad knows", f'did you mean "{near}"?' if near else ""
    elif name in _SIZES:
        with suppress(ValueError):
            if 0 < (size := float(text)) <= MAX_COUNT:  # NaN is refused too
                return size
        problem += "not a number above 0"
    elif name in _SWITCHES:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        problem += "neither true nor false"
    elif name in _FRACTIONS:
        with suppress(ValueError):
            if 0 < (fraction := float(text)) <= 1:  # NaN is refused too
                return fraction
        problem, remedy = f"{problem}not a fraction above 0 and at most 1", f"write --set {written}=0.9"
    else:
        at_least, most = 0 if name in _ZERO_TOO else 1, MAX_BYTES if name in _BYTES else MAX_COUNT
        if re.fullmatch(r"[0-9]{1,16}", text, re.ASCII) and at_least <= int(text) <= most:
            return int(text)
        problem += f"not a whole number of {at_least} or more"
    raise UsageError(problem, remedy=remedy)
