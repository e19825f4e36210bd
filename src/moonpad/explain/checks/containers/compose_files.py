"""The compose files of a text: whole files, and the blocks of them that a post or a guide shows among its sentences."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

import yaml
from yaml import Node

from moonpad.explain.checks.manifests.pod_objects import fields_of
from moonpad.explain.commands import Script

Services = Mapping[str, Mapping[str, Node]]
File = tuple[int, Mapping[str, Node], Services]

_SERVICES: Final = re.compile(r"^services:[ \t]*(?:#.*)?$", re.MULTILINE)
_BEGINS: Final = re.compile(r"(?P<indent>[ \t]*)services:[ \t]*(?:#.*)?$")
_KEY: Final = re.compile(r"[\w.-]+:(?:[ \t]|$)|#")
_LEFT_OUT: Final = re.compile(r"^[ \t]*(?:#[ \t]*|-[ \t]+)?(?:\.{3}|…)", re.MULTILINE)
_TEMPLATED: Final = ("{%", "{{")
_LARGEST: Final = 100_000
_MOST: Final = 8
_LONGEST: Final = 1000
_WORK: Final = "its YAML"


def compose_files(script: Script) -> Iterator[File]:
    """The first line of each, its keys, and the fields of its services."""
    starts = [first for _, first in script.origins] or [1]
    for first, end in zip(starts, [*starts[1:], len(script.lines) + 1], strict=True):
        text = "\n".join(script.lines[first - 1 : end - 1])
        script.budget.work(len(text) // 100, _WORK)
        if any(mark in text for mark in _TEMPLATED) or "services:" not in text:
            continue
        script.budget.work(len(text) // 4, _WORK)
        whole = _read(text) if _SERVICES.search(text) and not script.markdown else None
        if whole is not None:
            yield (first, *whole)
        if whole is not None or (not script.markdown and _keys(text)):
            continue
        for line, block in _blocks(script.lines[first - 1 : end - 1]):
            if (shown := _read(block)) is not None:
                yield (first + line, *shown)


def _read(text: str) -> tuple[Mapping[str, Node], Services] | None:
    """None where the text is not a Compose file, or merges part of another service."""
    if len(text) > _LARGEST:
        return None
    top = _keys(text)
    services = {name: fields_of(node) for name, node in fields_of(top.get("services")).items()}
    if not services or "include" in top or any("extends" in each for each in services.values()):
        return None
    return top, services


@lru_cache(maxsize=8)  # each check of a text asks
def _keys(text: str) -> Mapping[str, Node]:
    try:
        return fields_of(yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except (yaml.YAMLError, RecursionError):
        return {}


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each Compose file, from `services:` to the first line outside of it; an abridged one is left out."""
    begins = [at for at, line in enumerate(lines) if _BEGINS.match(line[:_LONGEST])]
    for at in begins[:_MOST]:
        indent = len(lines[at]) - len(lines[at].lstrip())
        end = next((below for below in range(at + 1, len(lines)) if _ends(lines[below], indent)), len(lines))
        block = textwrap.dedent("\n".join(lines[at:end])) + "\n"
        if not _LEFT_OUT.search(block):
            yield at, block


def _ends(line: str, indent: int) -> bool:
    text = line[:_LONGEST].lstrip()
    return bool(text) and len(line) - len(line.lstrip()) <= indent and _KEY.match(text) is None
