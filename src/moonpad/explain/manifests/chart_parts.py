"""Values of charts that have the engine's options in one part and its container in another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from yaml import MappingNode, Node

from moonpad.explain.commands import Word
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, scalar
from moonpad.values.records import replace

_DEEPEST: Final = 5
_MOST: Final = 60
_DEVICES: Final = re.compile(r"(?:[\w-]+\.com/)?gpu|huawei\.com/Ascend\w+")
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(slots=True)
class ServerPart:
    """`fields`: the mapping with the image. `named`: with the engine's name, where one is."""

    fields: Fields
    named: Fields = field(default_factory=dict)
    devices: Word | None = None


def server_part(fields: Fields, source: YamlSource, serves: Callable[[Fields], bool]) -> ServerPart | None:
    """The one mapping inside these that has an image, of several the one whose image `serves`."""
    parts = list(_mappings(fields, source, ()))
    held = [(inner, around) for inner, around in parts if "image" in inner]
    if len(held) > 1:
        held = [each for each in held if serves(each[0])]
    if len(held) != 1 or "image" in fields:
        return None
    inner, around = held[0]
    named = next(
        (each for each in (inner, *reversed(around)) if scalar(each.get("framework") or each.get("engine"))), {}
    )
    within = around[0] if around else inner
    return ServerPart(inner, named, _devices(within, source) or _devices(fields, source))


def mapped_variables(fields: Fields, source: YamlSource) -> dict[str, Word]:
    """`env: {NAME: value}`, which a template makes a list of, and `env_vars: NAME=value OTHER=value`."""
    given = source.fields(fields.get("env"))
    found = {name: source.word(node) for name, node in given.items() if _VARIABLE.fullmatch(name) and scalar(node)}
    for inner in (fields, *(source.fields(node) for node in fields.values())):
        at = inner.get("env_vars")
        for name, equals, value in (each.partition("=") for each in scalar(at).split()):
            if at is not None and equals and _VARIABLE.fullmatch(name):
                found[name] = replace(source.word(at), text=value, pieces=())
    return found


def _mappings(
    fields: Fields, source: YamlSource, around: tuple[Fields, ...]
) -> Iterator[tuple[Fields, tuple[Fields, ...]]]:
    """Each mapping inside, with those that it stands in, the outermost first."""
    source.whole.budget.work(4 + len(fields), "its YAML")
    for node in list(fields.values())[:_MOST] if len(around) < _DEEPEST else ():
        if isinstance(node, MappingNode) and (inner := source.fields(node)):
            yield inner, around
            yield from _mappings(inner, source, (*around, inner))


def _devices(fields: Fields, source: YamlSource) -> Word | None:
    """What the resources in it ask for, where all say the same."""
    asked = [fields.get("resources"), *(inner.get("resources") for inner, _ in _mappings(fields, source, ()))]
    found = [node for each in asked for node in _numbers(each, source)]
    return source.word(found[0]) if len({scalar(node) for node in found}) == 1 else None


def _numbers(node: Node | None, source: YamlSource) -> Iterator[Node]:
    given = source.fields(node)
    inside = (inner for inner, _ in _mappings(given, source, ()))
    for each in (given, *inside):
        yield from (value for name, value in each.items() if _DEVICES.fullmatch(name) and scalar(value).isdigit())
