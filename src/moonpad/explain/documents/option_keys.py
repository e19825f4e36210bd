"""The keys of options that take JSON or are written with dots: `--attention-config.use_cudnn_prefill=True`."""

from __future__ import annotations

from typing import Final

from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import as_json, unresolved

_MOST_KEYS: Final = 100


def key_paths(option: Occurrence) -> list[tuple[str, ...]]:
    """Of each key the tables that it stands in, and itself."""
    if option.flag is None or option.problem is not None:
        return []
    _, dot, dotted = option.written.partition(".")
    if dot:
        return [tuple(dotted.replace("-", "_").split(".")[:2])]
    value = as_json(option.value) if isinstance(option.value, str) and option.value[:1] == "{" else None
    if not isinstance(value, dict):
        return []
    paths: list[tuple[str, ...]] = [(key,) for key in value]
    paths += [(key, inner) for key, table in value.items() if isinstance(table, dict) for inner in table]
    return [path for path in paths[:_MOST_KEYS] if not any(unresolved(key) for key in path)]
