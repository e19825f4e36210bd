"""What a command line of llama-server says."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from moonpad.catalog.options import Option
from moonpad.engines.argument_values import Words, start_of
from moonpad.engines.argv_reader import Parsed
from moonpad.engines.base import Invocation, Reading
from moonpad.engines.foreign_names import FLASH, FLASH_BY_ITSELF
from moonpad.engines.option_grammar import Grammar
from moonpad.engines.recorded_options import recorded
from moonpad.engines.value_checks import whole
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.versions import since

PROGRAM: Final = "llama-server"
ENTRIES: Final = {"llama-server": 0, "llama.cpp/server": 0}
ALL_LAYERS: Final = 999
"""What people write for all of them; the engine takes as many as there are."""

SETTING_FLAGS: Final = (
    ("--ubatch-size", "max_num_batched_tokens"),
    ("--cache-type-k", "kv_cache_dtype"),
    ("--n-gpu-layers", "device_layers"),
    ("--n-cpu-moe", "host_expert_layers"),
)

_VARIABLES: Final = {
    "LLAMA_ARG_CTX_SIZE": "--ctx-size",
    "LLAMA_ARG_N_PARALLEL": "--parallel",
    "LLAMA_ARG_UBATCH": "--ubatch-size",
    "LLAMA_ARG_CACHE_TYPE_K": "--cache-type-k",
    "LLAMA_ARG_N_GPU_LAYERS": "--n-gpu-layers",
    "LLAMA_ARG_N_CPU_MOE": "--n-cpu-moe",
}
"""What stands for an option of a size (tools/server/README.md)."""
_MATRICES: Final = ("gate", "up", "down")
_REPEATED: Final = re.compile(r"[*+{]")
_INTEGER: Final = re.compile(r"\s*[+-]?\d")
_OPTIONAL: Final = re.compile(r"(?<!\()\?")
_CARD: Final = re.compile(r"[A-Za-z]+\d{1,2}")
_NESTED: Final = re.compile(r"\)[*+{]")
"""A repeated group can take exponential time; people do not write one."""
_LAYERS: Final = {"kimi-k2": 61, "kimi-linear": 27, "kimi-k3": 93}
"""Of files by their name: how many of a model's layers stay on the devices where a pattern keeps some of them there."""
_MOST_LAYERS: Final = 61
_LONGEST_NAME: Final = len("blk.98.ffn_gate_exps.weight")
_MOST_EFFORT: Final = 2_000
"""Of all patterns together. Published ones have up to 60 each."""


@lru_cache(maxsize=16)
def grammar(version: str | None) -> Grammar:
    options = recorded(PROGRAM, version)
    if version and not since(version, FLASH_BY_ITSELF):
        switch = (_as_switch(option) if FLASH in option.names else option for option in options.options)
        options = replace(options, options=tuple(switch))
    checks = {name: _begins_with_integer for option in options.options if option.kind == "int" for name in option.names}
    return Grammar(options, checks=checks)


def _begins_with_integer(text: str) -> bool:
    """std::stoi reads as far as it can: `--top-k 0.0` is 0 (common/arg.cpp)."""
    return bool(_INTEGER.match(text))


def _as_switch(option: Option) -> Option:
    """Flash attention was on or off before it chose by itself."""
    return replace(option, kind="flag", nargs="0", choices=(), default=None)


def read(invocation: Invocation) -> Reading:
    env = invocation.env
    words = Words(invocation.argv, grammar(invocation.version), start_of(invocation.argv, ENTRIES))
    named = env.get("LLAMA_ARG_HF_REPO", "") or env.get("LLAMA_ARG_MODEL", "")
    model = words.text("--hf-repo") or words.text("--model") or named
    settings, serving = _settings(words), words.serving()
    if given := _given_by_variables(words, env):
        settings = _settings(Words((*given, *invocation.argv), grammar(invocation.version), 0))
    splits = [part for part in (words.text("--tensor-split") or "").split(",") if part.strip(" 0.")]
    far = words.given("--rpc") or "LLAMA_ARG_RPC" in env
    serving = replace(
        serving,
        keyed=serving.keyed or words.given("--api-key-file") or "LLAMA_API_KEY" in env,
        auto_tool_choice=words.switch("--jinja") is not False,
    )
    return Reading(
        model=model,
        served_name=words.text("--alias") or env.get("LLAMA_ARG_ALIAS", "") or PurePosixPath(model).name or model,
        layout=Layout(pp=1 if far else max(1, len(splits))),
        settings=settings,
        unknown=words.unknown(),
        parsed=words.parsed(),
        serving=serving,
        takes_all_devices=not splits
        and not far
        and words.text("--split-mode") != "none"
        and words.text("--device") != "none",
        left_to_engine=_left_to_engine(words, settings, env, far=far),
        effort=50 * min(_effort(_overrides(words.parsed())), _MOST_EFFORT),
        extra=words.rest(),
    )


def _given_by_variables(words: Words, env: Mapping[str, str]) -> tuple[str, ...]:
    """Options whose variables are set; the command line goes before them (common/arg.cpp)."""
    given = ((flag, env[name]) for name, flag in _VARIABLES.items() if name in env and not words.given(flag))
    return tuple(word for pair in given for word in pair)


def _slots(words: Words) -> int | None:
    """None for -1, with which the server chooses."""
    return None if words.text("--parallel") == "-1" else words.whole("--parallel")


def _settings(words: Words) -> Settings:
    tokens, slots = words.whole("--ctx-size", least=-1), _slots(words)
    return Settings(
        # The slots share the context in equal parts; where they share it freely, each is sure of as much. 0 is the
        # model's own; the parser takes -1 too, and a report of the catalogue says what became of it.
        max_model_len=max(1, tokens // (slots or 1)) if tokens and tokens > 0 else None,
        max_num_seqs=slots,
        max_num_batched_tokens=words.whole("--ubatch-size"),
        kv_cache_dtype=words.text("--cache-type-k"),
        device_layers=_device_layers(words),
        host_expert_layers=_host_expert_layers(words),
    )


def _device_layers(words: Words) -> int | None:
    """None for all: above the layers of the model, or of every Kimi-K2, the number says no more."""
    text = words.text("--n-gpu-layers")
    count = whole(text) if text is not None else None
    return count if count is not None and 0 <= count <= _layers_by_name(words, _MOST_LAYERS) else None


def _layers_by_name(words: Words, otherwise: int) -> int:
    """Of the model, by what its file or repository is called."""
    named = " ".join(words.text(name) or "" for name in ("--model", "--hf-repo")).casefold()
    return next((layers for name, layers in _LAYERS.items() if name in named), otherwise)


def _host_expert_layers(words: Words) -> int | None:
    if words.switch("--cpu-moe"):
        return ALL_LAYERS
    count = words.whole("--n-cpu-moe", least=0)
    words.text("--override-tensor")  # known, and not an extra argument
    overrides = _overrides(words.parsed())
    if not overrides or _effort(overrides) > _MOST_EFFORT:
        return count
    patterns = [(pattern, buffer) for text, buffer in overrides if (pattern := _compiled(text)) is not None]
    most = _layers_by_name(words, ALL_LAYERS // 10)
    matrices = [f"blk.{layer}.ffn_{matrix}_exps.weight" for layer in range(most) for matrix in _MATRICES]
    on_host = sum(_buffer_of(name, patterns) == "CPU" for name in matrices)
    layers = ALL_LAYERS if on_host == len(matrices) else on_host // len(_MATRICES)
    return max(count or 0, layers)


def _overrides(parsed: Parsed) -> list[tuple[str, str]]:
    """(pattern of tensor names, buffer) of every --override-tensor, in order."""
    parts = [part.rpartition("=") for part in _placements(parsed)]
    return [(pattern, buffer.strip()) for pattern, equals, buffer in parts if equals]


def _placements(parsed: Parsed) -> list[str]:
    """What is written between the commas of every --override-tensor."""
    return [
        part
        for occurrence in parsed.occurrences
        if occurrence.flag == "--override-tensor" and isinstance(occurrence.value, str)
        for part in occurrence.value.split(",")
        if part.strip()
    ]


def _are_broken(placements: Sequence[str]) -> bool:
    """Whether one of them is not `pattern=buffer`, as where a text is cut off within it."""
    parts = [part.rpartition("=") for part in placements]
    return any(not (equals and buffer.strip()) or _compiled(pattern) is None for pattern, equals, buffer in parts)


def _effort(overrides: Sequence[tuple[str, str]]) -> int:
    """The most ways that there are to try the patterns at one place of a name: the time that they can take."""
    return sum(_ways(pattern) for pattern, _ in overrides)


def _ways(pattern: str) -> int:
    if len(pattern) > 200 or _NESTED.search(pattern):
        return _MOST_EFFORT + 1
    alternatives = math.prod(part.count("|") + 1 for part in re.split("[()]", pattern))
    repeated, optional = len(_REPEATED.findall(pattern)), len(_OPTIONAL.findall(pattern))
    return int(alternatives * _LONGEST_NAME**repeated * 2**optional)


def _compiled(pattern: str) -> re.Pattern[str] | None:
    """None for what the engine refuses."""
    try:
        return re.compile(pattern)
    except (re.error, OverflowError):
        return None


def _buffer_of(name: str, overrides: Sequence[tuple[re.Pattern[str], str]]) -> str:
    """The first pattern that matches decides, as in the engine; "" for the layer's own device."""
    return next((buffer for pattern, buffer in overrides if pattern.search(name)), "")


def _left_to_engine(words: Words, settings: Settings, env: Mapping[str, str], *, far: bool) -> str:
    if _effort(_overrides(words.parsed())) > _MOST_EFFORT:
        return "the patterns of --override-tensor are too many or too intricate to be tried here"
    if _are_broken(_placements(words.parsed())):
        return "where --override-tensor puts the experts is not known: what is written there is not pattern=buffer"
    if far:
        return "layers lie on devices of other machines too (--rpc)"
    if (
        len({buffer for pattern, buffer in _overrides(words.parsed()) if "exp" in pattern and _CARD.fullmatch(buffer)})
        > 1
    ):
        return "which experts a device holds is said by name (--override-tensor), and not counted here"
    placed = settings.host_expert_layers is not None or words.given("--n-gpu-layers") or "LLAMA_ARG_N_GPU_LAYERS" in env
    fits = (words.text("--fit") or "on").lower() not in ("off", "false", "0")
    if placed or not fits:
        return ""
    return "which layers and experts lie on the devices is left to the engine (--fit)"
