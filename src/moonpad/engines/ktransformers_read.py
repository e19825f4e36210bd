"""What a command line of KTransformers says: SGLang's fork, `kt run`, and the server of 2025 that is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import Final

from moonpad.engines import sglang_read
from moonpad.engines.argument_values import Words, model_of, start_of, unknown_words
from moonpad.engines.argv_reader import parse
from moonpad.engines.base import Reading, ServingFlags
from moonpad.engines.option_grammar import Grammar, Known, KnownSet, OptionLike
from moonpad.engines.recorded_options import recorded
from moonpad.values.plan import Layout, Settings

PROGRAM: Final = "sglang-kt"
RUN: Final = "kt run"
LEGACY: Final = "ktransformers-legacy"
RUN_ENTRIES: Final = {"kt": 1}
LEGACY_ENTRIES: Final = {"server/main.py": 0, "ktransformers.server.main": 0}

# https://github.com/kvcache-ai/ktransformers, kt-kernel/README.md, "KT-Kernel Parameters".
FORK_KNOWN: Final = (
    Known(("--kt-weight-path",)),
    Known(("--kt-method",)),
    Known(("--kt-cpuinfer",), kind="int"),
    Known(("--kt-threadpool-count",), kind="int"),
    Known(("--kt-max-deferred-experts-per-token",), kind="int"),
    Known(("--kt-gpu-prefill-token-threshold",), kind="int"),
    Known(("--kt-numa-nodes",), "+", "int"),
)

# The help of kt 0.7.2.
RUN_KNOWN: Final = (
    Known(("--host", "-H")),
    Known(("--port", "-p"), kind="int"),
    Known(("--gpu-experts",), kind="int"),
    Known(("--cpu-threads",), kind="int"),
    Known(("--numa-nodes",), kind="int"),
    Known(("--tensor-parallel-size", "--tp"), kind="int"),
    Known(("--model-path",)),
    Known(("--weights-path",)),
    Known(("--kt-method",)),
    Known(("--kt-gpu-prefill-threshold",), kind="int"),
    Known(("--max-total-tokens",), kind="int"),
    Known(("--quantize", "-q"), "0", "flag"),
    Known(("--advanced",), "0", "flag"),
    Known(("--dry-run",), "0", "flag"),
)

# https://kvcache-ai.github.io/ktransformers/en/api/server/server.html and the seed's commands.
LEGACY_KNOWN: Final = (
    Known(("--model_path", "--model_name")),
    Known(("--gguf_path",)),
    Known(("--optimize_config_path",)),
    Known(("--cache_lens",), kind="int"),
    Known(("--max_new_tokens",), kind="int"),
    Known(("--max_batch_size",), kind="int"),
    Known(("--chunk_size",), kind="int"),
    Known(("--cpu_infer",), kind="int"),
    Known(("--port",), kind="int"),
    Known(("--host",)),
    Known(("--api_key",)),
    Known(("--backend_type",)),
)


@lru_cache(maxsize=16)
def fork_grammar(version: str | None) -> Grammar:
    known = (*sglang_read.KNOWN, *FORK_KNOWN)
    return Grammar(recorded(PROGRAM, version) or KnownSet(known), known, sglang_read.CHECKS)


@lru_cache(maxsize=16)
def run_grammar(version: str | None) -> Grammar:
    """`kt run` hands what it does not know itself to SGLang; click takes no beginnings of names."""
    own = recorded(RUN, version)
    options = _together(own.options if own else RUN_KNOWN, fork_grammar(version).options.options)
    return Grammar(options, (*sglang_read.KNOWN, *FORK_KNOWN), sglang_read.CHECKS)


@lru_cache(maxsize=16)
def legacy_grammar(version: str | None) -> Grammar:
    options = recorded(LEGACY, version)
    return Grammar(options or KnownSet(LEGACY_KNOWN), LEGACY_KNOWN)


def read(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    engine: str,
    program: str,
    version: str | None = None,
    files: Mapping[str, str] | None = None,
) -> Reading:
    if (start := start_of(argv, LEGACY_ENTRIES)) > 0:
        return _read_legacy(argv, engine, version, start)
    if (start := start_of(argv, RUN_ENTRIES)) > 0 or list(argv[:1]) == ["run"]:
        return _read_run(argv, env, engine, version, max(start, 1), files)
    return sglang_read.read(argv, env, engine=engine, files=files, rules=fork_grammar(version))


def _read_run(
    argv: Sequence[str],
    env: Mapping[str, str],
    engine: str,
    version: str | None,
    start: int,
    files: Mapping[str, str] | None,
) -> Reading:
    rules = run_grammar(version)
    reading = sglang_read.read(argv, env, engine=engine, files=files, rules=rules, start=start)
    words = Words(parse(argv, rules, start=start), rules)
    experts = words.whole("--gpu-experts", least=0)
    if experts is None:
        return _with_positional(reading)
    extra = {key: value for key, value in reading.extra.items() if key != "gpu_experts"}
    settings = replace(reading.settings, gpu_experts=experts)
    return _with_positional(replace(reading, settings=settings, extra=extra))


def _with_positional(reading: Reading) -> Reading:
    """`kt run MODEL --model-path FOLDER`: the positional is the model's name, no argument too many."""
    positionals = reading.parsed.positionals
    if not positionals or positionals[0][1] not in reading.unknown:
        return reading
    unknown = list(reading.unknown)
    unknown.remove(positionals[0][1])
    return replace(reading, unknown=tuple(unknown))


def _read_legacy(argv: Sequence[str], engine: str, version: str | None, start: int) -> Reading:
    """One device, the experts in host RAM; `--cache_lens` is the length of its KV cache in tokens."""
    rules = legacy_grammar(version)
    found = parse(argv, rules, start=start)
    words = Words(found, rules)
    model = model_of(found, words, "--model_path")
    settings = Settings(
        max_model_len=words.whole("--cache_lens"),
        max_num_seqs=words.whole("--max_batch_size"),
        max_num_batched_tokens=words.whole("--chunk_size"),
        gpu_experts=0,
    )
    key = words.given("--api_key")
    serving = ServingFlags(host=words.text("--host"), port=words.whole("--port", least=0), keyed=key, key_in_argv=key)
    return Reading(
        model=model,
        served_name=model,
        layout=Layout(),
        settings=settings,
        unknown=unknown_words(found, argv, 0),
        engine=engine,
        parsed=words.parsed(),
        serving=serving,
        extra=words.rest(),
    )


def _together(first: Sequence[OptionLike], second: Sequence[OptionLike]) -> KnownSet:
    """Both; a name that both have is the first one's."""
    taken = {name for option in first for name in option.names}
    return KnownSet((*first, *(left for option in second if (left := _without(option, taken)))), prefixes=False)


def _without(option: OptionLike, taken: Set[str]) -> OptionLike | None:
    names = tuple(name for name in option.names if name not in taken)
    if names == option.names:
        return option
    if not names:
        return None
    return Known(names, option.nargs, option.kind, bool(option.negations), option.choices, option.dest)
