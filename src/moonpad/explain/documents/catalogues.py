"""Catalogues of deployments in JSON, for a launcher that makes the commands: a list of objects, each with an engine, a
model and a text of options."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import islice
from typing import Final

from moonpad.engines.foreign_names import PROGRAM_OF
from moonpad.explain.commands import Command, Word
from moonpad.explain.programs import program_named
from moonpad.explain.shell.interpreter import ScriptState, words_of
from moonpad.explain.source_text import Source
from moonpad.explain.word_lists import more

_OBJECT: Final = re.compile(r"\{[^{}]{2,8000}\}")
_ENGINES: Final = ("framework", "engine", "backend", "runtime", "inference_engine", "server")
_MODELS: Final = ("model_path", "model_id", "model_name", "model", "hf_model", "name")
_OWNERS: Final = ("vendor", "org", "organization", "publisher", "owner", "namespace")
_OPTIONS: Final = re.compile(
    r'"(?P<key>(?:\w{1,24}_)?(?:args|arguments|flags|options))"\s*:\s*"(?P<value>(?:\\.|[^"\\]){0,4000})"'
)
_NODES: Final = re.compile(
    r"(?:nodes|machines|hosts)_per_(?:worker|replica|instance|model)|num_nodes|nnodes|node_count"
)
NODES_BEFORE: Final = re.compile(r"--(?:nodes|machines)-per-(?:replica|worker|instance)[ =](?P<count>\d{1,3})\b")
"""The same as an option of such a launcher."""
_MOST: Final = 60
_MOST_NODES: Final = 512


def read_catalogue(text: str, start: int, state: ScriptState) -> bool:
    """Adds a command for each entry, those without options too. False where there is none."""
    state.budget.work(len(text) // 4, "a catalogue of deployments")
    entries = [_entry(match, start, state) for match in islice(_OBJECT.finditer(text), _MOST)]
    state.commands += [command for command in entries if command is not None]
    return any(command is not None for command in entries)


def _entry(match: re.Match[str], start: int, state: ScriptState) -> Command | None:
    try:
        entry = json.loads(match.group())
    except ValueError:
        return None
    program = next((PROGRAM_OF[name] for key in _ENGINES if (name := str(entry.get(key)).casefold()) in PROGRAM_OF), "")
    model = next((value for key in _MODELS if isinstance(value := entry.get(key), str) and value), "")
    options = _OPTIONS.search(match.group())
    named = program_named(program)
    if options is None or named is None or not model:
        return None
    owner = next((value for key in _OWNERS if isinstance(value := entry.get(key), str) and value), "")
    model = f"{owner}/{model}" if owner and "/" not in model else model
    begin = start + match.start() + options.start("value")
    written = words_of(Source.block(state.text, begin, options["value"]), state) if "\\" not in options["value"] else []
    if options["value"].strip() and not written:
        return None
    place = state.text.word("", begin, begin)
    argv = _with_model(written, model, place, alone=bool(named.positional_model))
    if not written:
        argv = (*argv, more("<what the launcher adds>", place.line))
    prefix = tuple(Word(word, place.line, end_line=place.line) for word in (named.start or program).split())
    return Command(program, argv, prefix, {}, line=place.line, pods=_nodes(entry), made=True)


def _with_model(written: list[Word], model: str, place: Word, *, alone: bool) -> tuple[Word, ...]:
    """`alone`: the program takes it without an option in front of it."""
    if any(word.text.partition("=")[0] in ("--model", "--model-path") for word in written):
        return tuple(written)
    texts = (model,) if alone else ("--model-path", model)
    return (*(Word(text, place.line, end_line=place.line) for text in texts), *written)


def _nodes(entry: Mapping[str, object]) -> int:
    counts = [value for key, value in entry.items() if _NODES.fullmatch(key) and isinstance(value, int)]
    return next((count for count in counts if 1 <= count <= _MOST_NODES), 1)
