"""Options of an engine that are the keys of a mapping: serve files of FlagScale, recipes, Ray Serve, Slurm configs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from moonpad.catalog.options import option_set
from moonpad.explain.commands import Word
from moonpad.explain.input_limits import NESTING
from moonpad.explain.programs import served_by_image
from moonpad.explain.yaml_source import Fields, YamlSource, items, scalar

_SERVERS: Final = ("vllm serve", "sglang", "trtllm-serve")
_ENGINES: Final[Mapping[str, str]] = {
    "vllm": "vllm serve",
    "sglang": "sglang",
    "trtllm": "trtllm-serve",
    "tensorrt_llm": "trtllm-serve",
    "tensorrt-llm": "trtllm-serve",
    "llama_cpp": "llama-server",
    "llama-cpp": "llama-server",
}
_OPTIONS: Final = frozenset(
    """
    engine_args engine_kwargs engine_args_specific vllm_args sglang_args server_args serve_args
    vllmConfig vllm_config sglang_config extra_args args parameters flags options
    """.split()  # noqa: SIM905
)
_MODEL: Final = ("model_source", "modelURL", "model_path", "checkpoint_path", "model_id", "model")
_NO_OPTION: Final = frozenset({"enabled", "name", "engine", "resources", "env"})
_LAYOUT: Final = frozenset({"--tensor-parallel-size", "--tp-size", "--tp", "--pipeline-parallel-size"})
_LEAST: Final = 3
"""Options that a mapping has at least for it to be taken for those of an engine that nothing else names."""


def option_commands(fields: Fields, source: YamlSource) -> Iterator[tuple[str, list[Word]]]:
    """The program and the arguments, in the spelling of its command line, for the options in the mapping."""
    if scalar(fields.get("enabled")).lower() in ("false", "no"):
        return
    engine = _engine_named(fields)
    inner = {name: node for name, node in fields.items() if name in _OPTIONS and source.fields(node)}
    argv: list[Word] = []
    given: dict[str, Node] = {}
    for name, node in inner.items():
        own = source.fields(node)
        if name == "engine_args_specific":
            own = source.fields(own.get(engine or "vllm"))
        given |= own
    if given:
        program = _ENGINES.get(engine) or _program_of(given)
    elif scalar(fields.get("modelURL")) and (served := served_by_image(scalar(fields.get("repository")))):
        program = served  # a model of the production stack's chart, without options
    elif engine and any(_flag(name) in _LAYOUT for name in fields):
        program = _ENGINES[engine]
        recorded = option_set(program)
        given = {name: node for name, node in fields.items() if recorded and recorded.named(_flag(name))}
    elif any(name.startswith("--") for name in fields):
        given, program = dict(fields), _program_of(fields)
    else:
        roles = {name: source.fields(node) for name, node in fields.items() if name in ("ctx", "gen")}
        for role, options in roles.items():
            if "tensor_parallel_size" in options:
                yield "trtllm-serve", list(option_words(options, source, "trtllm-serve", role))
        return
    if not program:
        return
    argv = list(option_words(given, source, program))
    loading = source.fields(fields.get("model_loading_config"))
    if not any(word.text in ("--model", "--model-path") for word in argv):
        models = (where[name] for where in (loading, fields) for name in _MODEL if name in where)
        model = next((node for node in models if scalar(node)), None)
        if model is not None:
            at = source.word(model)
            option = "--model-path" if program == "sglang" else "--model"
            argv = [*((replace(at, text=option, pieces=()),) if program != "trtllm-serve" else ()), at, *argv]
    if argv:
        yield program, argv


def _engine_named(fields: Fields) -> str:
    for key in ("engine", "backend", "backendFramework", "framework", "inference_engine", "llm_engine", "type"):
        if (name := scalar(fields.get(key)).casefold()) in _ENGINES:
            return name
    if "model_loading_config" in fields:  # of Ray Serve
        return "vllm"
    marks = {name: {f"{name}_args", f"{name}_config", f"{name}Config", f"{name}Args"} for name in ("vllm", "sglang")}
    return next((name for name, keys in marks.items() if keys & fields.keys()), "")


def _program_of(options: Mapping[str, Node]) -> str:
    """The program that knows most of them, "" where none knows enough."""
    names = [_flag(name) for name in options if name not in _NO_OPTION]

    def knows(program: str) -> int:
        recorded = option_set(program)
        return sum(recorded is not None and recorded.named(name) is not None for name in names)

    best = max(_SERVERS, key=knows)
    enough = knows(best) >= _LEAST and 2 * knows(best) > len(names)
    return best if enough else ""


def _flag(name: str) -> str:
    """`tensor_parallel_size` and `tensorParallelSize` are --tensor-parallel-size."""
    if name.startswith("-"):
        return name
    return "--" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower()


def option_words(options: Mapping[str, Node], source: YamlSource, program: str, role: str = "") -> Iterator[Word]:
    recorded = option_set(program)
    for name, node in options.items():
        at = source.word(node)
        if name in _NO_OPTION or (not isinstance(node, ScalarNode | MappingNode) and not items(node)):
            continue
        flag = _flag(name)
        if program == "trtllm-serve":
            flag = _TRTLLM.get(name, f"--{name}")
            if recorded is None or recorded.named(flag) is None:
                continue
        option = recorded.named(flag) if recorded is not None else None
        value = scalar(node)
        key = replace(at, text=flag, pieces=())
        if isinstance(node, MappingNode):
            yield from (key, replace(at, text=as_json(node, source), pieces=()))
        elif items(node):
            yield from (key, *(source.word(item) for item in items(node)))
        elif value.lower() in ("true", "yes") and (option is None or option.nargs == "0"):
            yield key
        elif value.lower() in ("false", "no") and (option is None or option.nargs == "0"):
            continue
        elif value:
            yield from (key, at)


_TRTLLM: Final = {
    "tensor_parallel_size": "--tp_size",
    "pipeline_parallel_size": "--pp_size",
    "moe_expert_parallel_size": "--ep_size",
}


def as_json(node: Node, source: YamlSource) -> str:
    """A mapping as the text of JSON."""
    return json.dumps(_plain(node, source))


def _plain(node: Node, source: YamlSource, depth: int = 0) -> object:
    if isinstance(node, MappingNode) and depth < NESTING:
        return {name: _plain(value, source, depth + 1) for name, value in source.fields(node).items()}
    if isinstance(node, SequenceNode) and depth < NESTING:
        return [_plain(item, source, depth + 1) for item in items(node)]
    text = scalar(node)
    source.whole.budget.work(4, "its YAML")
    if node.tag.endswith((":int", ":float", ":bool", ":null")):
        try:
            return json.loads(text.lower() or "null")
        except ValueError:
            return text
    return text
