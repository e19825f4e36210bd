"""Servers that a builder of Chutes starts: `build_sglang_chute(model_name=…, node_selector=…, engine_args="…")`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines import chute_names as names
from moonpad.engines.foreign_names import MODEL_BY_PATH
from moonpad.explain.commands import Command, Word, Wrapper
from moonpad.explain.programs import program_named
from moonpad.explain.python.data import Listing, Table, Text, Value
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.values.records import replace

_CONTAINER: Final = "docker run"
_PROGRAM: Final = "python program"
_LONGEST: Final = 4000


def read_chute(table: Table, state: ScriptState, env: Mapping[str, Word]) -> bool:
    """Adds the server of such a call; False where it is another call, or says no model."""
    builder = names.BUILDERS.get(table.call.rpartition(".")[2])
    model = table.fields.get(names.MODEL)
    if builder is None or not isinstance(model, Text):
        return False
    words = [*_arguments(table.fields.get(names.ARGUMENTS))]
    selector = table.fields.get(names.SELECTOR)
    devices = _count(selector.fields.get(names.COUNT)) if isinstance(selector, Table) else None
    given = {word.text.partition("=")[0] for word in words}
    added = [*builder.always] if not given.intersection(builder.always) else []
    if devices is not None and given.isdisjoint(builder.ranks):
        added += [builder.ranks[0], str(devices)]
    by_path = [replace(table.at, text="--model-path", pieces=())] if builder.program == MODEL_BY_PATH else []
    argv = (*by_path, model.word, *words, *(replace(table.at, text=text, pieces=()) for text in added))
    named = program_named(builder.program)
    start = (named.start if named else "") or builder.program
    prefix = tuple(replace(table.at, text=text, pieces=()) for text in start.split())
    line = table.at.line
    image = table.fields.get(names.IMAGE)
    around = (Wrapper(_CONTAINER, (), image=image.word), Wrapper(_PROGRAM, ())) if isinstance(image, Text) else ()
    state.add(Command(builder.program, argv, prefix, dict(env), wrappers=around, line=line, embedded=True))
    kinds = selector.fields.get(names.KINDS) if isinstance(selector, Table) else None
    kind = kinds.items[0] if isinstance(kinds, Listing) and len(kinds.items) == 1 else None
    if devices is not None and isinstance(kind, Text) and isinstance(kind.value, str):
        state.machines.append((kind.word.line, f"{devices}x{kind.value.upper()}"))
    return True


def _arguments(value: Value | None) -> Iterator[Word]:
    """The words of a text of arguments."""
    if not isinstance(value, Text):
        return
    value.used = True
    try:
        words = shlex.split(value.word.text[:_LONGEST])
    except ValueError:  # a quote that is never closed
        words = value.word.text[:_LONGEST].split()
    yield from (replace(value.word, text=word, pieces=()) for word in words)


def _count(value: Value | None) -> int | None:
    return value.value if isinstance(value, Text) and type(value.value) is int and value.value > 0 else None
