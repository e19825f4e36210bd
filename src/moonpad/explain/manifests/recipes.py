"""Recipes, which tools make the commands of several servers of: options by role, or lists of them that are combined.

Sources: https://github.com/NVIDIA/srt-slurm (docs), the Slurm examples of TensorRT-LLM, and
https://github.com/vllm-project/recipes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from yaml import MappingNode, Node, ScalarNode

from moonpad.engines import foreign_names as names
from moonpad.engines import recipe_names
from moonpad.engines.image_names import OF_MAKERS
from moonpad.engines.other_servers import SERVER_OF_TASK
from moonpad.explain.commands import HereFile, Word, whole_number
from moonpad.explain.manifests.node_labels import cluster_of_label
from moonpad.explain.manifests.node_templates import node_templates
from moonpad.explain.manifests.option_maps import as_json, list_words, option_words
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items, scalar
from moonpad.values.records import replace

_ROLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("prefill", "ctx", "context"), "prefill"),
    **dict.fromkeys(("decode", "gen", "generation"), "decode"),
    **dict.fromkeys(("aggregated", "agg"), ""),
}
_OPTIONS: Final = re.compile(r"(\w+?)_config")
_CONNECTOR: Final = "connector"
_ALIAS: Final = re.compile(r"hf:.*|[^/:$<{]+")
"""https://github.com/NVIDIA/srt-slurm, docs/config-reference.md: an alias of the cluster, or `hf:` and a name."""
_LISTS: Final = ("base_args", "extra_args", "args")
_FIXED: Final = "fixed_args"
"""Options of all variants of a file that has the others by their names, as a list or as keys."""
_ONE_MACHINE: Final = "single_node_tp"
_OF_MACHINE: Final = 8
_OF_TRAY: Final = 4
"""Devices of a machine, and of one with Grace."""
_FAMILIES: Final[Mapping[str, re.Pattern[str]]] = {
    "hopper": re.compile(r"H\d"),
    "blackwell": re.compile(r"G?B[23]"),
    "amd": re.compile(r"MI"),
}
"""As recipes call the devices that their overrides are for."""
_OF_RECIPE: Final = frozenset({"base_args", "hardware_overrides", "strategy_overrides"})


class Served(Struct, frozen=True):
    """A command that a recipe describes. `machine` is its cluster, `arm` the number of the alternative."""

    program: str
    argv: Sequence[Word]
    role: str = ""
    env: Mapping[str, Word] = field(default_factory=dict)
    files: Mapping[str, HereFile] = field(default_factory=dict)
    machine: str = ""
    pods: int = 1
    arm: int | None = None
    more: str = ""
    line: int = 0
    image: Word | None = None
    alias: bool = False
    """Whether the model is a key that the tool replaces, no path and no repository."""


def served_by_recipe(fields: Fields, source: YamlSource) -> Iterator[Served]:
    """Nothing where the mapping is no recipe of these kinds."""
    backend = source.fields(fields.get("backend"))
    for key, node in backend.items():
        if (match := _OPTIONS.fullmatch(key)) and (program := names.PROGRAM_OF.get(match[1])):
            yield from _by_roles(source.fields(node), program, fields, backend, source)
            return
    roles = source.fields(fields.get("worker_config"))
    if any("tensor_parallel_size" in source.fields(roles.get(name)) for name in ("ctx", "gen")):
        yield from _by_roles(roles, names.OF_ROLES, fields, {}, source)
        return
    for words, env, role, line in node_templates(fields, source):
        yield Served(names.PROGRAM_OF[names.UNNAMED], words, role, env, line=line)
    if _FIXED in fields:
        yield from _varied(fields, source)
        return
    known = [source.fields(fields.get("model")), fields]
    if any(_OF_RECIPE & part.keys() for part in known):
        yield from _combined(fields, source)


# --- one server for each role ---


def _by_roles(roles: Fields, program: str, recipe: Fields, backend: Fields, source: YamlSource) -> Iterator[Served]:
    model = source.fields(recipe.get("model"))
    path = model.get("path") or source.fields(recipe.get("environment")).get("model_path")
    resources = source.fields(recipe.get("resources")) or source.fields(recipe.get("hardware"))
    container = model.get("container")
    image = source.word(container) if container is not None and OF_MAKERS.search(scalar(container)) else None
    for name, node in roles.items():
        if name not in _ROLES or not isinstance(node, MappingNode):
            continue
        pods, machine = _machines(name, resources)
        environment = source.fields(backend.get(f"{name}_environment"))
        env = {key: source.word(value) for key, value in environment.items()}
        line = source.word(node).line
        given = source.fields(node)
        if program == names.OF_ROLES:
            file = HereFile(f"{name}.yaml", as_json(node, source), line)
            at = (
                source.word(path)
                if path is not None
                else replace(source.word(node), text="MODEL", unresolved=("MODEL",))
            )
            words = [at, *(replace(at, text=text, pieces=(), unresolved=()) for text in ("--config", file.path))]
            yield Served(program, words, _ROLES[name], env, {file.path: file}, machine, pods, line=line)
            continue
        option = "--model-path" if program == names.MODEL_BY_PATH else "--model"
        words = list(_with_connector(given, backend, program, _ROLES[name], source))
        if path is not None and not any(word.text == option for word in words):
            at = source.word(path)
            words = [replace(at, text=option, pieces=()), at, *words]
        alias = path is not None and _ALIAS.fullmatch(scalar(path)) is not None
        if words:
            made = Served(program, words, _ROLES[name], env, machine=machine, pods=pods, line=line, image=image)
            yield replace(made, alias=alias)


def _with_connector(given: Fields, backend: Fields, program: str, role: str, source: YamlSource) -> Iterator[Word]:
    """The options, and the one that the tool makes of the connector, which is named for the role or for all."""
    options = {key: node for key, node in given.items() if key != _CONNECTOR}
    yield from option_words(options, source, program)
    has_it = any(key.replace("_", "-") == recipe_names.OPTION.removeprefix("--") for key in options)
    named = [part[_CONNECTOR] for part in (given, backend) if _CONNECTOR in part]
    if len(named) > 1 and scalar(named[0]).casefold() in recipe_names.LEFT_TO_ALL:
        named = named[1:]
    if program != recipe_names.PROGRAM or not role or not options or has_it or "type" not in backend:
        return
    at = source.word(named[0] if named else next(iter(options.values())))
    name = at.text if named else recipe_names.USUAL
    if name.casefold() in recipe_names.NONE:
        return
    preset = recipe_names.CONNECTORS.get(name.casefold())
    if preset is not None or name.startswith("{"):
        value = json.dumps(preset) if preset is not None else name
        yield from (replace(at, text=text, pieces=()) for text in (recipe_names.OPTION, value))


def _machines(role: str, resources: Fields) -> tuple[int, str]:
    """The nodes of one server of the role, and what they are."""
    short = {"aggregated": "agg"}.get(role, role)
    number = {key: whole_number(scalar(node)) or 0 for key, node in resources.items()}
    per_node = number.get("gpus_per_node", 0)
    workers = number.get(f"{short}_workers", 0) or number.get(f"num_{short}_servers", 0) or 1
    devices = number.get(f"gpus_per_{short}", 0) or number.get(f"{short}_nodes", 0) * per_node // workers
    if not devices or not per_node:
        return 1, ""
    nodes = max(1, devices // per_node)
    kind = cluster_of_label(scalar(resources.get("gpu_type")))
    if not kind:
        return nodes, ""
    return nodes, f"{nodes}x{per_node}x{kind}" if nodes > 1 else f"{min(devices, per_node)}x{kind}"


# --- lists that are combined ---


def _combined(recipe: Fields, source: YamlSource) -> Iterator[Served]:
    """One command, with each override in its turn: which of them are combined, and the layout, is chosen elsewhere."""
    model = source.fields(recipe.get("model"))
    base = [*_other_server(recipe, source), *_words_in(recipe, source), *_words_in(model, source)]
    opted = {scalar(item) for item in items(recipe.get("opt_in_features"))}
    for name, feature in source.fields(recipe.get("features")).items():
        if name not in opted:
            base += _words_in(source.fields(feature), source)
    named = model.get("model_id") or recipe.get("model_id")
    overrides = list(_overrides(recipe, source))
    by_default = _by_default(recipe, base, named, source)
    if by_default is not None:
        yield by_default
        overrides = [each for each in overrides if not each[1] or each[1][-1] not in by_default.argv]
    elif len(overrides) > 1:
        overrides = [({}, []), *overrides]
    more = "what the recipe's strategy adds"
    for arm, (override, extra) in enumerate(overrides or [({}, [])], start=0 if by_default is None else 1):
        chosen = override.get("model_id") or named
        named_model = (source.word(chosen),) if chosen is not None else ()
        words = [*named_model, *_without(base, extra), *extra]
        if words and any(word.text.startswith("--") for word in words):
            yield Served(names.PROGRAM_OF[names.UNNAMED], words, arm=arm, more=more, line=words[-1].line)


def _other_server(recipe: Fields, source: YamlSource) -> Iterator[Word]:
    """The option that the recipe's page adds for a task which another server takes over."""
    for item in items(source.fields(recipe.get("meta")).get("tasks")):
        if option := SERVER_OF_TASK.get(scalar(item)):
            yield replace(source.word(item), text=option, pieces=())


def _by_default(recipe: Fields, base: Sequence[Word], named: Node | None, source: YamlSource) -> Served | None:
    """What the recipe's page shows first: its default devices, all of one machine in tensor parallelism."""
    kind = cluster_of_label(scalar(source.fields(recipe.get("meta")).get("default_hardware")))
    if not kind or named is None or scalar(recipe.get("default_strategy")) != _ONE_MACHINE:
        return None
    devices = _OF_TRAY if kind.startswith("GB") else _OF_MACHINE
    overrides = source.fields(recipe.get("hardware_overrides"))
    family = next((name for name, kinds in _FAMILIES.items() if kinds.match(kind)), "")
    override = source.fields(overrides.get(kind.casefold()) or overrides.get(family))
    extra = list(_words_in(override, source))
    at = replace(source.word(named), pieces=())
    size = [replace(at, text=text) for text in ("--tensor-parallel-size", str(devices))]
    env = {name: source.word(node) for name, node in source.fields(override.get("extra_env")).items()}
    words = [source.word(named), *_without(base, extra), *extra, *size]
    program = names.PROGRAM_OF[names.UNNAMED]
    return Served(program, words, env=env, machine=f"{devices}x{kind}", arm=0, line=at.line)


def _varied(recipe: Fields, source: YamlSource) -> Iterator[Served]:
    """One command for each variant, which has all that is fixed and its own options."""
    program = names.PROGRAM_OF.get(scalar(recipe.get("engine")).casefold(), names.PROGRAM_OF[names.UNNAMED])
    option = "--model-path" if program == names.MODEL_BY_PATH else "--model"
    fixed = _options(recipe[_FIXED], program, source)
    variants = [source.fields(node) for node in source.fields(recipe.get("variants")).values()]
    for arm, variant in enumerate(variants or [{}]):
        lists = [node for key, node in variant.items() if key in _LISTS]
        own = [word for node in lists for word in _options(node, program, source)]
        own = own or list(option_words(variant, source, program))
        model = variant.get("model") or recipe.get("model")
        at = source.word(model) if isinstance(model, ScalarNode) else None
        named = (replace(at, text=option, pieces=()), at) if at is not None else ()
        words = [*named, *_without(fixed, own), *own]
        if fixed and any(word.text.startswith("--") for word in words):
            yield Served(program, words, arm=arm, line=words[-1].line)


def _options(node: Node, program: str, source: YamlSource) -> list[Word]:
    if isinstance(node, MappingNode):
        return list(option_words(source.fields(node), source, program))
    return list(list_words(node, source))


def _without(words: Sequence[Word], replaced: Sequence[Word]) -> list[Word]:
    """Without the options that are given again."""
    again = {word.text.partition("=")[0] for word in replaced if word.text.startswith("--")}
    kept: list[Word] = []
    leaves_out = False
    for word in words:
        if word.text.startswith("--"):
            leaves_out = word.text.partition("=")[0] in again
        if not leaves_out:
            kept.append(word)
    return kept


def _overrides(recipe: Fields, source: YamlSource) -> Iterator[tuple[Fields, list[Word]]]:
    for key in ("variants", "hardware_overrides", "strategy_overrides"):
        for override in map(source.fields, source.fields(recipe.get(key)).values()):
            words = list(_words_in(override, source))
            if words or "model_id" in override:
                yield override, words


def _words_in(fields: Fields, source: YamlSource) -> Iterator[Word]:
    for key in _LISTS:
        yield from list_words(fields[key], source) if key in fields else ()
