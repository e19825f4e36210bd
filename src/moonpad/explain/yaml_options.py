"""Engine options as keys of a YAML mapping: `engine_args: {tensor_parallel_size: 16}`, `{--max-model-len: 8192}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from yaml import Node

from moonpad.catalog.options import option_set
from moonpad.explain.commands import Word
from moonpad.explain.flag_lists import serving_programs
from moonpad.explain.yaml_source import Fields, YamlSource, is_true, items, scalar

_DECISIVE: Final = frozenset({
    *("tensor-parallel-size", "tp-size", "tp", "data-parallel-size", "dp-size", "pipeline-parallel-size", "pp-size"),
    *("ep-size", "max-model-len", "context-length", "model-path", "ctx-size"),
})  # fmt: skip
"""One of them is there: other programs have options like `port` and `model` too."""
_LEAST: Final = 3
_SHARE: Final = 0.6
_OF_A_FILE: Final = frozenset({
    *("enable_attention_dp", "moe_expert_parallel_size", "cuda_graph_config", "kv_cache_config", "moe_config"),
    *("cache_transceiver_config", "free_gpu_memory_fraction", "max_num_tokens"),
})  # fmt: skip
"""Keys of the option file of TensorRT-LLM (tensorrt_llm/llmapi/llm_args.py)."""


def option_words(fields: Fields, source: YamlSource) -> tuple[Word, ...]:
    """The mapping as the flags that it stands for; empty where it is none of options."""
    names = {_option(key): value for key, value in fields.items()}
    if not _DECISIVE & names.keys():
        return ()
    known = max((sum(name in options for name in names) for options in _known(_programs())), default=0)
    if known < min(_LEAST, len(names)) or known < _SHARE * len(names):
        return ()
    return tuple(word for key, value in fields.items() for word in _flag(_option(key), value, source))


def is_option_file(fields: Fields) -> bool:
    """Whether it is what TensorRT-LLM takes by --config."""
    return len(_OF_A_FILE & fields.keys()) >= 2 and bool({"tensor_parallel_size", "max_batch_size"} & fields.keys())


def merged_args(fields: Fields, source: YamlSource) -> Fields:
    """`engine_args` with those that `engine_args_specific` has for the engine that is named beside them."""
    common, specific = source.fields(fields.get("engine_args")), source.fields(fields.get("engine_args_specific"))
    return {**common, **source.fields(specific.get(scalar(fields.get("engine"))))}


def _option(key: str) -> str:
    return key.lstrip("-").replace("_", "-")


def _flag(name: str, value: Node, source: YamlSource) -> Iterator[Word]:
    at = source.word(value)
    values = [source.word(item) for item in items(value) if scalar(item)]
    text = scalar(value)
    if source.fields(value) or (not values and not text) or text.lower() == "false":
        return
    yield replace(at, text=f"--{name}", pieces=())
    if not is_true(value):
        yield from values or (at,)


def _programs() -> tuple[str, ...]:
    return tuple(serving_programs())


@lru_cache(maxsize=4)
def _known(programs: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    """Of each program the names of its options."""
    sets = (option_set(program) for program in programs)
    return tuple(
        frozenset(name.lstrip("-").replace("_", "-") for option in options.options for name in option.names)
        for options in sets
        if options is not None
    )


def environment_of(fields: Mapping[str, Node], source: YamlSource) -> Iterator[tuple[str, Word]]:
    """Variables of a task: `env`, `envs` and `environment`, as a mapping or as a list of `NAME=value`."""
    for key in ("envs", "env", "environment"):
        for name, value in source.fields(fields.get(key)).items():
            if scalar(value):
                yield name, source.word(value)
        for item in items(fields.get(key)):
            name, equals, value_text = scalar(item).partition("=")
            if equals:
                yield name, replace(source.word(item), text=value_text, pieces=())
