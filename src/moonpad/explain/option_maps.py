"""Options of an engine that are the keys of a mapping: serve files of FlagScale, recipes, Ray Serve, Slurm configs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from moonpad.catalog.options import option_set
from moonpad.engines import foreign_names as names
from moonpad.explain.commands import Word
from moonpad.explain.input_limits import NESTING
from moonpad.explain.programs import served_by_image
from moonpad.explain.yaml_source import Fields, YamlSource, items, scalar

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
    inner = {name: node for name, node in fields.items() if name in names.OPTION_KEYS and source.fields(node)}
    argv: list[Word] = []
    given: dict[str, Node] = {}
    for name, node in inner.items():
        own = source.fields(node)
        if name == "engine_args_specific":
            own = source.fields(own.get(engine or names.UNNAMED))
        given |= own
    if given:
        program = names.PROGRAM_OF.get(engine) or _program_of(given)
    elif scalar(fields.get("modelURL")) and (served := served_by_image(scalar(fields.get("repository")))):
        program = served  # a model of the production stack's chart, without options
    elif engine and any(_flag(name) in _LAYOUT for name in fields):
        program = names.PROGRAM_OF[engine]
        recorded = option_set(program)
        given = {name: node for name, node in fields.items() if recorded and recorded.named(_flag(name))}
    elif any(name.startswith("--") for name in fields):
        given, program = dict(fields), _program_of(fields)
    else:
        roles = {name: source.fields(node) for name, node in fields.items() if name in ("ctx", "gen")}
        for role, options in roles.items():
            if "tensor_parallel_size" in options:
                yield names.OF_ROLES, list(option_words(options, source, names.OF_ROLES, role))
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
            option = "--model-path" if program == names.MODEL_BY_PATH else "--model"
            argv = [*((replace(at, text=option, pieces=()),) if program != names.OF_ROLES else ()), at, *argv]
    if argv:
        yield program, argv


def _engine_named(fields: Fields) -> str:
    for key in ("engine", "backend", "backendFramework", "framework", "inference_engine", "llm_engine", "type"):
        if (name := scalar(fields.get(key)).casefold()) in names.PROGRAM_OF:
            return name
    if "model_loading_config" in fields:  # of Ray Serve
        return names.UNNAMED
    marks = {name: {f"{name}_args", f"{name}_config", f"{name}Config", f"{name}Args"} for name in names.MARKING}
    return next((name for name, keys in marks.items() if keys & fields.keys()), "")


def _program_of(options: Mapping[str, Node]) -> str:
    """The program that knows most of them, "" where none knows enough."""
    flags = [_flag(name) for name in options if name not in _NO_OPTION]

    def knows(program: str) -> int:
        recorded = option_set(program)
        return sum(recorded is not None and recorded.named(name) is not None for name in flags)

    best = max(names.GUESSED, key=knows)
    enough = knows(best) >= _LEAST and 2 * knows(best) > len(flags)
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
        if program == names.OF_ROLES:
            flag = names.ROLE_OPTIONS.get(name, f"--{name}")
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
