"""Texts in YAML that a shell reads: `run: |` of SkyPilot, `commands:` of dstack, scripts in a ConfigMap, cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from yaml import Node

from moonpad.explain.commands import Word, concatenated
from moonpad.explain.interpreter import ScriptState, Shell
from moonpad.explain.programs import starts_engine
from moonpad.explain.source_text import Source
from moonpad.explain.yaml_source import Fields, YamlSource, items, scalar

_COUNTED: Final = re.compile(r"[A-Za-z][\w-]*:([0-9]{1,3})(?![\w.])", re.ASCII)
_MAGIC: Final = re.compile(r"^([ \t]*)(?:!|%%?(?:bash|sh)\b)", re.MULTILINE)
_PER_NODE: Final = ("SKYPILOT_NUM_GPUS_PER_NODE", "DSTACK_GPUS_NUM", "DSTACK_GPUS_PER_NODE")


def shell_texts(value: Node, source: YamlSource) -> Iterator[Word]:
    """What of a value a shell reads, if it starts an engine: the text, or the lines of a list as one."""
    if starts_engine(scalar(value)):
        yield source.word(value)
        return
    parts = [source.word(item) for item in items(value) if scalar(item)]
    if parts and starts_engine("\n".join(part.text for part in parts)):
        lines = [part if part.text.endswith("\n") else _with_end(part) for part in parts]
        yield concatenated(lines, replace(parts[0], end_line=parts[-1].end_line, end_column=parts[-1].end_column))


def read_text(word: Word, state: ScriptState, variables: Mapping[str, Word], label: str) -> None:
    """Reads it as a script with these variables set. `!` and `%%bash` of a notebook's cells are stepped over."""
    text = _MAGIC.sub(lambda match: match[1] + " " * (len(match[0]) - len(match[1])), word.text)
    shell = Shell(state, Source.inside(replace(word, text=text), state.text), label=label or None)
    for name, value in variables.items():
        shell.scope.set(name, value, export=True)
    shell.read()


def device_variables(fields: Fields, source: YamlSource) -> dict[str, Word]:
    """What SkyPilot and dstack set by `accelerators: H200:8` and `gpu: MI300X:8`."""
    resources = source.fields(fields.get("resources"))
    for key in ("accelerators", "gpu", "gpus"):
        node = resources.get(key)
        several = tuple(source.fields(node))
        text = scalar(node) or next(iter(several), "")
        if node is not None and (match := _COUNTED.search(text)):
            at = replace(source.word(node), text=match[1], pieces=(), unresolved=())
            return dict.fromkeys(_PER_NODE, at)
    return {}


def _with_end(part: Word) -> Word:
    return concatenated(
        (part, Word("\n", pieces=part.pieces[-1:] and (part.pieces[-1]._replace(start=0, end=1),))), part
    )
