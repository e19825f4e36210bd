"""What a command line of KTransformers says: SGLang's fork, `kt run`, and the server of 2025 that is gone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from moonpad.catalog.options import Option, OptionSet
from moonpad.engines import sglang_read
from moonpad.engines.argument_values import Words, start_of
from moonpad.engines.base import Invocation, Reading
from moonpad.engines.option_grammar import Grammar
from moonpad.engines.recorded_options import recorded
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace

PROGRAM: Final = "sglang-kt"
RUN: Final = "kt run"
_EVERY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - what it binds
LEGACY: Final = "ktransformers-legacy"
RUN_ENTRIES: Final = {"kt": 1}
ALWAYS_PASSED: Final = {RUN: ("--kt-gpu-prefill-token-threshold", "--kt-enable-dynamic-expert-update")}
"""What it hands to the server whether they are given or not, the threshold with 4096: https://github.com/kvcache-ai/
ktransformers, kt-kernel/python/cli/commands/run.py."""
LEGACY_ENTRIES: Final = {"server/main.py": 0, "ktransformers.server.main": 0, "ktransformers.server": 0}
CHAT: Final = "ktransformers-chat"
"""The terminal chat of 2025, which is not a server."""
CHAT_ENTRIES: Final = {"local_chat.py": 0, "ktransformers.local_chat": 0}
_CHAT_OPTIONS: Final = OptionSet(
    CHAT,
    "0.3.2",
    (
        *(Option((f"--{name}",), "text", "1") for name in ("model_path", "gguf_path", "prompt_file", "mode")),
        *(Option((f"--{name}",), "text", "1") for name in ("optimize_config_path", "optimize_rule_path")),
        *(Option((f"--{name}",), "int", "1") for name in ("max_new_tokens", "cpu_infer", "chunk_prefill_size")),
        *(Option((f"--{name}",), "text", "?") for name in ("use_cuda_graph", "force_think")),
    ),
    exact=False,
    source="GitHub kvcache-ai/ktransformers, ktransformers/local_chat.py",
)
_FORMER: Final = (Option(("--total_context",), "int", "1"),)
"""Of releases before those that are recorded."""

_SHORT_NAMES: Final = {
    **dict.fromkeys(("v3.2", "dsv3.2", "deepseek3.2", "deepseek-v3.2"), "deepseek-ai/DeepSeek-V3.2"),
    **dict.fromkeys(("r1", "dsr1", "r1-0528", "deepseek-r1", "deepseek-r1-0528"), "deepseek-ai/DeepSeek-R1-0528"),
    **dict.fromkeys(("k2", "kimi", "k2-thinking", "kimi-thinking"), "moonshotai/Kimi-K2-Thinking"),
    **dict.fromkeys(("v4", "dsv4", "v4-flash", "deepseek-v4"), "deepseek-ai/DeepSeek-V4-Flash"),
    **{"m2": "MiniMaxAI/MiniMax-M2", "m2.1": "MiniMaxAI/MiniMax-M2.1", "m2.7": "MiniMaxAI/MiniMax-M2.7"},
}
"""What `kt run` takes for a model: https://github.com/kvcache-ai/ktransformers, kt-kernel/python/cli/utils,
model_registry.py."""


def fork_grammar(version: str | None) -> Grammar:
    return sglang_read.grammar(PROGRAM, version)


@lru_cache(maxsize=16)
def run_grammar(version: str | None) -> Grammar:
    """`kt run` hands what it does not know itself to SGLang; click takes no beginnings of names."""
    return replace(fork_grammar(version), options=_together(recorded(RUN, version), fork_grammar(version).options))


@lru_cache(maxsize=16)
def legacy_grammar(version: str | None) -> Grammar:
    return Grammar(recorded(LEGACY, version), also=_FORMER)


def read(invocation: Invocation) -> Reading:
    argv, version = invocation.argv, invocation.version
    if (start := start_of(argv, CHAT_ENTRIES)) > 0:
        words = Words(argv, Grammar(_CHAT_OPTIONS), start)
        return _read_legacy(words, words.model("--model_path"))
    if (start := start_of(argv, LEGACY_ENTRIES) or start_of(argv[:2], {"ktransformers": 0})) > 0:
        words = Words(argv, legacy_grammar(version), start)
        return _read_legacy(words, words.text("--model_path") or "")  # it takes no model by its place
    if (start := start_of(argv, RUN_ENTRIES)) > 0 or list(argv[:1]) == ["run"]:
        return _read_run(Words(argv, run_grammar(version), max(start, 1)), invocation.files)
    return sglang_read.read(invocation)


def _read_run(words: Words, files: Mapping[str, str]) -> Reading:
    experts = words.whole("--gpu-experts", least=0)
    reading = sglang_read.read_words(words, files)
    if not words.given("--tensor-parallel-size"):
        reading = replace(reading, takes_all_devices=True)  # its command takes the number of GPUs that it finds
    # Its command has --trust-remote-code always, and the address that `kt config` gives, or else every one:
    # https://github.com/kvcache-ai/ktransformers, kt-kernel/python/cli/commands/run.py
    host = reading.serving.host or ("" if words.given("--host") else _EVERY_ADDRESS)
    serving = replace(reading.serving, trust_remote_code=True, host=host or None)
    reading = replace(reading, serving=serving)
    if experts is not None:
        reading = replace(reading, settings=replace(reading.settings, gpu_experts=experts))
    if (meant := _SHORT_NAMES.get(reading.model.casefold())) is not None:
        reading = replace(reading, model=meant, served_name=reading.served_name or reading.model)
    return _with_positional(reading)


def _with_positional(reading: Reading) -> Reading:
    """`kt run MODEL --model-path FOLDER`: the positional is the model's name, no argument too many."""
    positionals = reading.parsed.positionals
    if not positionals or positionals[0][1] not in reading.unknown:
        return reading
    unknown = list(reading.unknown)
    unknown.remove(positionals[0][1])
    return replace(reading, unknown=tuple(unknown))


def _read_legacy(words: Words, model: str) -> Reading:
    """One device, the experts in host RAM; `--cache_lens` is the length of its KV cache in tokens."""
    settings = Settings(
        max_model_len=words.whole("--cache_lens") or words.whole("--total_context"),
        max_num_seqs=words.whole("--max_batch_size"),
        max_num_batched_tokens=words.whole("--chunk_size"),
        gpu_experts=0,
    )
    return Reading(
        model=model,
        served_name=model,
        layout=Layout(),
        settings=settings,
        serving=words.serving(),
        unknown=words.unknown(),
        parsed=words.parsed(),
        extra=words.rest(),
    )


def _together(first: OptionSet, second: OptionSet) -> OptionSet:
    """Both; a name that both have is the first one's."""
    taken = {name for option in first.options for name in option.names}
    left = [
        replace(option, names=names, negations=tuple(name for name in option.negations if name not in taken))
        for option in second.options
        if (names := tuple(name for name in option.names if name not in taken))
    ]
    return replace(first, options=(*first.options, *left))
