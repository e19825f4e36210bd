"""A table of what a benchmark is to try: lists of values for options of a server, and the server's program beside its
fixed options, as in `server_command:` with `base_server_flags:` and `search_space:`."""

from __future__ import annotations

import re
from typing import Final

from yaml import Node

from moonpad.catalog.options import option_set
from moonpad.explain.commands import Word
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, scalar
from moonpad.explain.programs import identify

_TRIED: Final = re.compile(
    r"(?:search|sweep|tuning|param(?:eter)?s?)[_-]?(?:space|grid|range)s?|(?:grid|search|sweep)[_-]?(?:params|parameters)",
    re.IGNORECASE,
)
_LEAST: Final = 3
"""Options that a mapping has at least for it to be that of the program beside it."""


def is_tried(key: str, node: Node, beside: Fields, source: YamlSource) -> bool:
    """Whether the key holds values of which each run takes one, or the start to which a mapping beside it adds all."""
    return _TRIED.fullmatch(key) is not None or _is_completed(scalar(node), beside, source)


def _is_completed(text: str, beside: Fields, source: YamlSource) -> bool:
    words = [Word(part) for part in text.split()]
    named = identify(words)
    recorded = option_set(named[0]) if named is not None and named[1] == len(words) else None
    if recorded is None:
        return False

    def knows(name: str) -> bool:
        return any(recorded.named(f"--{each}") is not None for each in {name, name.replace("_", "-")})

    return any(sum(map(knows, source.fields(node))) >= _LEAST for node in beside.values())
