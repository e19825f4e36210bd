"""A small subset of YAML, enough for the option files of engines: nested keys with plain values, or JSON.

No library reads it here, on purpose: the files of others may hold anything, and anchors, tags and aliases are what
makes YAML dangerous (fault 53). What this does not understand it leaves out.
"""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.value_checks import as_json

_LINE: Final = re.compile(r"(?P<indent> *)(?P<key>[A-Za-z_][\w.-]*):(?:\s+(?P<value>.*))?\Z", re.ASCII)
_MOST_BYTES: Final = 1_000_000
_MOST_LEVELS: Final = 8


def flat_yaml(text: str) -> dict[str, str]:
    """`{"kv_cache_config.dtype": "fp8", "enable_attention_dp": "true"}`: values as written, no quotes, no comments.

    A key without a value has the text "". Never raises.
    """
    if len(text) > _MOST_BYTES:
        return {}
    found = as_json(text)
    if isinstance(found, dict):
        return _flat_json(found)
    values: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        match = _LINE.match(line.rstrip())
        if match is None:
            continue
        indent = len(match["indent"])
        while path and path[-1][0] >= indent:
            path.pop()
        path.append((indent, match["key"]))
        if len(path) <= _MOST_LEVELS:
            values[".".join(key for _, key in path)] = _plain(match["value"] or "")
    return values


def _plain(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return re.sub(r"(?:^|\s)#.*", "", value).strip()


def _flat_json(found: dict[str, object], before: str = "", level: int = 1) -> dict[str, str]:
    values: dict[str, str] = {}
    for key, value in found.items():
        if isinstance(value, dict) and level < _MOST_LEVELS:
            values[f"{before}{key}"] = ""
            values |= _flat_json(value, f"{before}{key}.", level + 1)
        elif isinstance(value, bool):
            values[f"{before}{key}"] = str(value).lower()
        else:
            values[f"{before}{key}"] = "null" if value is None else str(value)
    return values
