"""What a command line of llama-server says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from moonpad.engines.argument_values import Words, start_of, unknown_words
from moonpad.engines.argv_reader import Parsed, parse
from moonpad.engines.base import Reading, ServingFlags
from moonpad.engines.option_grammar import Grammar, Known, KnownSet
from moonpad.engines.recorded_options import recorded
from moonpad.engines.value_checks import whole
from moonpad.values.plan import Layout, Settings

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

KNOWN: Final = (
    Known(("-m", "--model")),
    Known(("-hf", "-hfr", "--hf-repo")),
    Known(("-a", "--alias")),
    Known(("-c", "--ctx-size"), kind="int"),
    Known(("-np", "--parallel"), kind="int"),
    Known(("-ub", "--ubatch-size"), kind="int"),
    Known(("-ctk", "--cache-type-k")),
    Known(("-ngl", "--gpu-layers", "--n-gpu-layers")),
    Known(("-ncmoe", "--n-cpu-moe"), kind="int"),
    Known(("-cmoe", "--cpu-moe"), "0", "flag"),
    Known(("-ot", "--override-tensor")),
    Known(("-ts", "--tensor-split")),
    Known(("-sm", "--split-mode")),
    Known(("-dev", "--device")),
    Known(("-fit", "--fit")),
    Known(("-fa", "--flash-attn"), "?"),  # a switch until the autumn of 2025
    Known(("--host",)),
    Known(("--port",), kind="int"),
    Known(("--api-key",)),
    Known(("--api-key-file",)),
    Known(("--jinja",), "0", "flag", negatable=True),
)

_MATRICES: Final = ("gate", "up", "down")
_NESTED: Final = re.compile(r"\)[*+{]")
"""A repeated group can take exponential time; people do not write one."""
_MOST_OVERRIDES: Final = 400


@lru_cache(maxsize=16)
def grammar(version: str | None) -> Grammar:
    return Grammar(recorded(PROGRAM, version) or KnownSet(KNOWN, underscores=True, prefixes=False), KNOWN)


def read(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    engine: str,
    program: str,
    version: str | None = None,
    files: Mapping[str, str] | None = None,
) -> Reading:
    rules = grammar(version)
    parsed = parse(argv, rules, start=start_of(argv, ENTRIES))
    words = Words(parsed, rules)
    model = words.text("--hf-repo") or words.text("--model") or env.get("LLAMA_ARG_MODEL", "")
    key = words.given("--api-key")
    settings = _settings(parsed, words)
    splits = [part for part in (words.text("--tensor-split") or "").split(",") if part.strip(" 0.")]
    serving = ServingFlags(
        host=words.text("--host"),
        port=words.whole("--port", least=0),
        keyed=key or words.given("--api-key-file") or "LLAMA_API_KEY" in env,
        key_in_argv=key,
        auto_tool_choice=words.switch("--jinja") is not False,
    )
    return Reading(
        model=model,
        served_name=words.text("--alias") or PurePosixPath(model).name or model,
        layout=Layout(pp=max(1, len(splits))),
        settings=settings,
        unknown=unknown_words(parsed, argv, 0),
        engine=engine,
        parsed=words.parsed(),
        serving=serving,
        takes_all_devices=not splits and words.text("--split-mode") != "none" and words.text("--device") != "none",
        left_to_engine=_left_to_engine(words, settings),
        extra=words.rest(),
    )


def _settings(parsed: Parsed, words: Words) -> Settings:
    tokens, slots = words.whole("--ctx-size"), words.whole("--parallel")
    on_devices = words.text("--n-gpu-layers")
    return Settings(
        # The slots share the context in equal parts; where they share it freely, each is sure of as much.
        max_model_len=None if tokens is None else max(1, tokens // (slots or 1)),
        max_num_seqs=slots,
        max_num_batched_tokens=words.whole("--ubatch-size"),
        kv_cache_dtype=words.text("--cache-type-k"),
        device_layers=_device_layers(on_devices),
        host_expert_layers=_host_expert_layers(parsed, words),
    )


def _device_layers(text: str | None) -> int | None:
    """None for all: above the layers of every Kimi the number says no more."""
    count = whole(text) if text is not None else None
    return count if count is not None and 0 <= count < 62 else None


def _host_expert_layers(parsed: Parsed, words: Words) -> int | None:
    if words.switch("--cpu-moe"):
        return ALL_LAYERS
    count = words.whole("--n-cpu-moe", least=0)
    words.text("--override-tensor")  # asked for, so that it is no extra
    overrides = tuple(_overrides(parsed))
    if not overrides:
        return count
    matrices = [f"blk.{layer}.ffn_{matrix}_exps.weight" for layer in range(ALL_LAYERS // 10) for matrix in _MATRICES]
    on_host = sum(_buffer_of(name, overrides) == "CPU" for name in matrices)
    layers = ALL_LAYERS if on_host == len(matrices) else on_host // len(_MATRICES)
    return max(count or 0, layers)


def _overrides(parsed: Parsed) -> Iterator[tuple[re.Pattern[str], str]]:
    """(pattern of tensor names, buffer) of every --override-tensor, in order."""
    texts = [
        part
        for occurrence in parsed.occurrences
        if occurrence.flag == "--override-tensor" and isinstance(occurrence.value, str)
        for part in occurrence.value.split(",")
    ]
    for text in texts[:_MOST_OVERRIDES]:
        pattern, equals, buffer = text.rpartition("=")
        if not equals or len(pattern) > 200 or _NESTED.search(pattern):
            continue
        try:
            yield re.compile(pattern), buffer.strip()
        except re.error:
            continue


def _buffer_of(name: str, overrides: Sequence[tuple[re.Pattern[str], str]]) -> str:
    """The first pattern that matches decides, as in the engine; "" for the layer's own device."""
    return next((buffer for pattern, buffer in overrides if pattern.search(name)), "")


def _left_to_engine(words: Words, settings: Settings) -> str:
    placed = settings.host_expert_layers is not None or words.given("--n-gpu-layers")
    fits = (words.text("--fit") or "on").lower() not in ("off", "false", "0")
    if placed or not fits:
        return ""
    return "which layers and experts lie on the devices is left to the engine (--fit)"
