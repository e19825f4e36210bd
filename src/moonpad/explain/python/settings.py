"""Servers that a Python program hands to a harness: a model, sizes, and a list of the engine's arguments.

`Launch(MODEL, tp_size=8, extra_args=["--trust-remote-code", …])`: what the harness adds is its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.commands import Command, Word
from moonpad.explain.flag_lists import knows_most, serving_programs, with_program
from moonpad.explain.programs import program_named
from moonpad.explain.python.data import Listing, Table, Text, Value
from moonpad.explain.python.engines import EngineOptions

_LEAST: Final = 3
_MODEL: Final = ("model", "model_path", "model_name", "model_id", "#0")
_SIZES: Final = {
    **dict.fromkeys(("tp", "tp_size", "tensor_parallel_size"), "tp"),
    **dict.fromkeys(("pp", "pp_size", "pipeline_parallel_size"), "pp"),
    **dict.fromkeys(("dp", "dp_size", "data_parallel_size"), "dp"),
    **dict.fromkeys(("max_model_len", "context_length"), "max_model_len"),
}
"""What settings call our sizes."""


def read_settings(values: Iterable[Value], options: EngineOptions) -> None:
    """For a program in which nothing else starts an engine."""
    for value in values:
        if isinstance(value, Table) and not value.used:
            for key, given in value.fields.items():
                if key in names.ARGUMENT_LISTS and isinstance(given, Listing):
                    _add(value, given, options)
                    break


def _add(table: Table, listing: Listing, options: EngineOptions) -> None:
    options.state.budget.work(20 + len(listing.items), "its Python")
    words = [item.word for item in listing.items if isinstance(item, Text)]
    flags = {word.text.partition("=")[0] for word in words if word.text.startswith("--")}
    if len(words) < len(listing.items) or len(flags) < _LEAST:
        return
    found = with_program(Command("fragment", tuple(words)), options.imports.programs())
    if found.program == "fragment" or not knows_most(found, flags):
        return
    named = program_named(found.program)
    if named is None:
        return
    sizes = list(_sizes(found.program, table))
    if not sizes and not flags & names.DECISIVE:
        return
    model = list(_model(found.program, table)) if not flags & {"--model", "--model-path"} else []
    prefix = tuple(replace(table.at, text=text, pieces=()) for text in (named.start or named.name).split())
    variables = table.fields.get("env")
    given = variables.fields if isinstance(variables, Table) else {}
    env = {name: value.word for name, value in given.items() if isinstance(value, Text) and name.isidentifier()}
    command = Command(found.program, (*model, *sizes, *words), prefix, {**options.env, **env}, line=table.at.line)
    options.state.add(replace(command, custom=True))


def _model(program: str, table: Table) -> Iterator[Word]:
    value = next((each for name in _MODEL if isinstance(each := table.fields.get(name), Text)), None)
    if program == names.MODEL_BY_PATH:
        yield replace(table.at, text="--model-path", pieces=())
    if value is not None and (isinstance(value.value, str) or not value.known):
        yield value.word
    else:
        yield replace(table.at, text="${model}", unresolved=("model",), pieces=())


def _sizes(program: str, table: Table) -> Iterator[Word]:
    spelled = serving_programs()[program].options
    for name, value in table.fields.items():
        flag = spelled.get(_SIZES.get(name, ""))
        if flag and isinstance(value, Text) and (type(value.value) is int or not value.known):
            yield replace(value.word, text=flag, unresolved=(), pieces=())
            yield value.word
