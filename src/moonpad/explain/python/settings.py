"""Servers that a Python program hands to a harness: a model, sizes, and a list of the engine's arguments.

`Launch(MODEL, tp_size=8, extra_args=["--trust-remote-code", …])`: what the harness adds is its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines import foreign_names as names
from moonpad.explain.commands import Command, Word
from moonpad.explain.flag_lists import knows_most, serving_programs, with_program
from moonpad.explain.manifests.node_labels import cluster_of_label
from moonpad.explain.programs import program_named
from moonpad.explain.python.data import Listing, Table, Text, Value
from moonpad.explain.python.engines import EngineOptions
from moonpad.values.records import replace

_LEAST: Final = 3
_REPOSITORIES: Final = ("repo_id", "hf_repo", "model_repo", "repo")
_MODEL: Final = ("model", "model_path", "model_name", "model_id", *_REPOSITORIES, "#0")
_KINDS: Final = ("gpu_type", "gpu_kind", "accelerator_type", "accelerator", "gpu")
_COUNTS: Final = ("gpu_count", "num_gpus", "n_gpus", "accelerator_count", "gpus")
_FROM_HUB: Final = "--hf-repo"
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
    if machine := _machine(table):
        options.state.machines.append((table.at.line, machine))


def _machine(table: Table) -> str:
    """`4xH200` of `gpu_type="H200", gpu_count=4`; "" where one of them is not said."""
    kind = next((each for name in _KINDS if isinstance(each := table.fields.get(name), Text)), None)
    count = next((each for name in _COUNTS if isinstance(each := table.fields.get(name), Text)), None)
    if kind is None or count is None or not isinstance(kind.value, str) or type(count.value) is not int:
        return ""
    found = cluster_of_label(kind.value) or kind.value
    return f"{count.value}x{found.rpartition('x')[2]}" if kind.value else ""


def _model(program: str, table: Table) -> Iterator[Word]:
    value = next((each for name in _MODEL if isinstance(each := table.fields.get(name), Text)), None)
    said = value is not None and (isinstance(value.value, str) or not value.known)
    recorded, named = option_set(program), program_named(program)
    takes_repository = recorded is not None and recorded.named(_FROM_HUB) is not None
    repository = next((each for name in _REPOSITORIES if isinstance(each := table.fields.get(name), Text)), None)
    if takes_repository and repository is not None and value is repository:
        quantization = table.fields.get("quant", table.fields.get("quantization"))
        form = (
            f":{quantization.value}" if isinstance(quantization, Text) and isinstance(quantization.value, str) else ""
        )
        yield replace(table.at, text=_FROM_HUB, pieces=())
        yield replace(value.word, text=f"{value.word.text}{form}", pieces=()) if form else value.word
        return
    if program == names.MODEL_BY_PATH:
        yield replace(table.at, text="--model-path", pieces=())
    elif said and named is not None and not named.positional_model:
        yield replace(table.at, text="--model", pieces=())
    if value is not None and said:
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
