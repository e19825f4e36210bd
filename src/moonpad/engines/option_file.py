"""What an option file of an engine says: YAML or JSON, read as the engines read it, by PyYAML's safe loader.

The files of others may hold anything (fault 53), so size, depth and aliases are limited before anything is constructed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from moonpad.engines.value_checks import as_json

_MOST_BYTES: Final = 2**20
_MOST_ALIASES: Final = 16
_MOST_LEVELS: Final = 64
_MOST_TABLES: Final = 8
"""Tables in tables that become keys with dots; what lies deeper is one text."""


def option_file(path: str | None, files: Mapping[str, str] | None) -> Mapping[str, str]:
    """The options of the file that a command line names, where its content is known."""
    if path is None or not files:
        return {}
    return flat_options(files.get(path) or files.get(PurePosixPath(path).name) or "")


@lru_cache(maxsize=8)
def flat_options(text: str) -> Mapping[str, str]:
    """`{"kv_cache_config": "", "kv_cache_config.dtype": "fp8", "enable_attention_dp": "true", "moe_config": "null"}`.

    Empty for a file that the engine could not read either. Never raises. Many checks ask for the same few files, of
    which one may take half a second.
    """
    return MappingProxyType(_options(text) if len(text) <= _MOST_BYTES else {})


def _options(text: str) -> dict[str, str]:
    try:
        document = as_json(text) or _yaml(text)
        return _flat(document) if isinstance(document, dict) else {}
    # What the constructors of YAML's types raise besides: for `!!int ""`, a month 13, an integer of 5,000 digits.
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        return {}


def _yaml(text: str) -> object:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    level = aliases = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            aliases += isinstance(event, yaml.AliasEvent)
            level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if level > _MOST_LEVELS or aliases > _MOST_ALIASES:
                return None
        document: object = yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader, the faster one where it is built
    except yaml.YAMLError:
        return None
    return document


def _flat(table: Mapping[Any, object], before: str = "", level: int = 1) -> dict[str, str]:
    options: dict[str, str] = {}
    for key, value in table.items():
        name = f"{before}{_text(key)}"
        if isinstance(value, dict) and level < _MOST_TABLES:
            options[name] = ""
            options |= _flat(value, f"{name}.", level + 1)
        else:
            options[name] = _text(value)
    return options


def _text(value: object) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
