"""Engines that a Python program makes: `LLM(model=…, tensor_parallel_size=8)`, `sgl.Engine(…)`, `LLMConfig` of Ray.

The names of their arguments are those of options, as the command line has them.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from moonpad.catalog.options import option_set, releases_with
from moonpad.catalog.options.option import Option
from moonpad.engines import foreign_names as names
from moonpad.engines.python_names import MEANT
from moonpad.explain.commands import Command, Word
from moonpad.explain.programs import program_named
from moonpad.explain.python.chutes import read_chute
from moonpad.explain.python.conditions import decisive
from moonpad.explain.python.data import Listing, Table, Text, Value, plain, words_in
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.values.records import replace

_MODEL: Final = ("model", "model_path", "model_source", "model_id", "#0")
_LEAST: Final = 2
"""Options that a dictionary has at least for it to be taken for an engine's."""
_MANAGED: Final = "OPTION_"
_LAYOUT: Final = frozenset({"tensor_parallel_size", "tp_size", "pipeline_parallel_size", "pp_size"})


@dataclass(slots=True)
class Imports:
    """`modules`: a name of the program → the module; `members`: a name → the module that it is from, and its name."""

    modules: dict[str, str] = field(default_factory=dict)
    members: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                name = alias.asname or alias.name.partition(".")[0]
                self.modules[name] = alias.name if alias.asname else name
            elif node.module:
                self.members[alias.asname or alias.name] = (node.module, alias.name)

    def programs(self) -> set[str]:
        """The servers of the engines that are imported from."""
        imported = (*self.modules.values(), *(module for module, _ in self.members.values()))
        return {names.PROGRAM_OF[root] for each in imported if (root := each.partition(".")[0]) in names.PROGRAM_OF}

    def resolved(self, call: str) -> tuple[str, str]:
        """The module and the name of what is called; "" for a module that is not known."""
        owner, _, name = call.rpartition(".")
        if not owner:
            return self.members.get(name, ("", name))
        first, _, rest = owner.partition(".")
        if first in self.members:
            module, inner = self.members[first]
            return f"{module}.{inner}", name
        module = self.modules.get(first, names.PYTHON_ALIASES.get(first, ""))
        return ".".join(part for part in (module, rest) if part), name


class EngineOptions:
    """Finds the tables that are an engine's options, and adds the commands that say the same."""

    def __init__(self, imports: Imports, state: ScriptState, env: Mapping[str, Word]) -> None:
        self.imports, self.state, self.env = imports, state, env

    def read(self, table: Table) -> None:
        self.state.budget.work(20, "its Python")
        fields = table.fields
        if read_chute(table, self.state, self.env):
            return
        kwargs = next(
            (fields[key] for key in ("engine_kwargs", "engine_args") if isinstance(fields.get(key), Table)), None
        )
        if isinstance(kwargs, Table) and (names.RAY_MARKS & fields.keys()):
            kwargs.used = True
            self._ray(table, kwargs)
        elif sum(name.startswith(_MANAGED) for name in fields) >= _LEAST and not table.used:
            self._managed(table)
        elif program := self._program(table):
            self._add(program, table, dict(fields))

    def _program(self, table: Table) -> str:
        """ "" where it is not an engine's."""
        module, name = self.imports.resolved(table.call)
        programs = names.PYTHON_CLASSES.get(name, {})
        root = module.partition(".")[0]
        if programs:
            if root in programs:
                return programs[root]
            if root:
                return ""
            return next(iter(programs.values())) if len(programs) == 1 else _guessed(table.fields, programs.values())
        if table.used or table.call not in names.OPTION_NAMES:
            return ""
        known = _guessed(table.fields, names.GUESSED)
        return known if table.fields.keys() & (_LAYOUT | set(_MODEL)) else ""

    def _managed(self, table: Table) -> None:
        """`OPTION_TENSOR_PARALLEL_DEGREE` and the like: variables of a managed service's container."""
        fields: dict[str, Value] = {}
        for variable, value in table.fields.items():
            name = variable.removeprefix(_MANAGED).lower().replace("parallel_degree", "parallel_size")
            if variable.startswith(_MANAGED) and isinstance(value, Text):
                is_switch = value.word.text in ("true", "false")
                fields[name] = Text(value.word, value.word.text == "true") if is_switch else value
            elif variable in ("HF_MODEL_ID", "MODEL_ID"):
                fields["model"] = value
        if fields.keys() & _LAYOUT:
            added = replace(table.at, text="<what the service adds>", unresolved=("@",), pieces=())
            self._add(names.PROGRAM_OF[names.UNNAMED], replace(table, rest=[added]), fields)

    def _ray(self, table: Table, kwargs: Table) -> None:
        """`LLMConfig` of Ray Serve, and what `ray.data.llm` takes."""
        loading = table.fields.get("model_loading_config")
        where = [loading.fields] if isinstance(loading, Table) else []
        fields = dict(kwargs.fields)
        for key in ("model_source", "model_id"):
            for place in (*where, table.fields):
                if key in place and "model" not in fields:
                    fields["model"] = place[key]
        env: dict[str, Word] = {}
        runtime = table.fields.get("runtime_env")
        variables = runtime.fields.get("env_vars") if isinstance(runtime, Table) else None
        if isinstance(variables, Table):
            env = {name: value.word for name, value in variables.fields.items() if isinstance(value, Text)}
        program = names.PROGRAM_OF[names.UNNAMED]
        fields.setdefault("distributed_executor_backend", Text(replace(table.at, text="ray"), "ray"))
        self._add(program, kwargs, fields, env)
        kind = table.fields.get("accelerator_type")
        if isinstance(kind, Text) and isinstance(kind.value, str):
            sizes = [_size(fields, name) for name in ("tensor_parallel_size", "pipeline_parallel_size")]
            if all(sizes):
                self.state.machines.append((kind.word.line, f"{sizes[0] * sizes[1]}x{kind.value.split('-')[-1]}"))

    def _add(
        self, program: str, table: Table, fields: Mapping[str, Value], env: Mapping[str, Word] | None = None
    ) -> None:
        words = list(_argv(program, table, fields))
        imported = self.imports.resolved(table.call)[0].partition(".")[0] in names.PROGRAM_OF
        if len(words) < (1 if imported and isinstance(fields.get("#0", fields.get("model")), Text) else _LEAST):
            return
        named = program_named(program)
        start = (named.start if named else "") or program
        prefix = tuple(replace(table.at, text=text, pieces=()) for text in start.split())
        line = table.at.line
        self.state.add(Command(program, tuple(words), prefix, {**self.env, **(env or {})}, line=line, embedded=True))


def _size(fields: Mapping[str, Value], name: str) -> int:
    """0 where it is not known."""
    value = fields.get(name)
    if value is None:
        return 1
    return value.value if isinstance(value, Text) and type(value.value) is int else 0


def _guessed(fields: Mapping[str, Value], programs: Iterable[str]) -> str:
    """The program that has most of them among its options, "" where none has enough."""

    def knows(program: str) -> int:
        return sum(_option(program, name) is not None for name in fields)

    best = max(programs, key=knows)
    return best if knows(best) >= _LEAST and 2 * knows(best) >= len(fields) else ""


def _option(program: str, name: str) -> Option | None:
    recorded = option_set(program)
    if recorded is None or name.startswith("#"):
        return None
    flags = (f"--{name.replace('_', '-')}", f"--{name}", names.ROLE_OPTIONS.get(name, ""))
    return next((option for flag in flags if (option := recorded.named(flag)) is not None), None)


def _former(program: str, name: str) -> Option | None:
    """An argument that earlier releases had: `task="embed"`."""
    flag = f"--{name.replace('_', '-')}"
    releases = () if name.startswith("#") else releases_with(program, flag)
    recorded = option_set(program, releases[-1]) if releases else None
    return recorded.named(flag) if recorded is not None else None


def _meant(program: str, name: str, fields: Mapping[str, Value]) -> str:
    """What an argument that the library does not have is called there, `tensor_parallel`; else itself."""
    other = MEANT.get(program, {}).get(name, "")
    return other if other.isidentifier() and other not in fields else name


def _argv(program: str, table: Table, fields: Mapping[str, Value]) -> Iterator[Word]:
    """The model first, then each argument that is an option, and what `**kwargs` may hold."""
    named = program_named(program)
    model = next((fields[name] for name in _MODEL if isinstance(fields.get(name), Text)), None)
    if isinstance(model, Text):
        if program == names.MODEL_BY_PATH:
            yield replace(model.word, text="--model-path", pieces=(), unresolved=())
        yield model.word
    elif named is not None and program != names.MODEL_BY_PATH:
        yield replace(table.at, text="${model}", unresolved=("model",))
    cache = fields.get("kv_cache_config")
    others = {f"kv_cache_{name}": value for name, value in cache.fields.items()} if isinstance(cache, Table) else {}
    for given, value in {**fields, **others}.items():
        name = _meant(program, given, fields)
        option = (_option(program, name) or _former(program, name)) if name not in _MODEL else None
        if option is not None:
            yield from _words(option, value)
    yield from (replace(word, text=f"${{{word.text}}}" if not word.unresolved else word.text) for word in table.rest)


def _words(option: Option, value: Value) -> Iterator[Word]:
    words = list(words_in(value))
    at = words[0] if words else None
    if at is None:
        return
    key = replace(at, text=option.name, pieces=(), unresolved=())
    match value:
        case Text(value=bool() as is_on):
            if option.nargs != "0":
                yield from (key, replace(at, text=str(is_on).lower()))
            elif is_on or option.negations:
                yield key if is_on else replace(key, text=option.negations[0])
        case Text(value=None):
            return
        case Text():
            if option.nargs != "0":
                yield from (key, at)
            elif decisive(Text(key, key.text)):
                yield at  # a switch of the layout that is on or off
        case Listing():
            yield from (key, *words)
        case Table():
            names_of = tuple(name for word in words for name in word.unresolved)[:20]
            yield from (key, replace(at, text=json.dumps(plain(value)), unresolved=names_of))
