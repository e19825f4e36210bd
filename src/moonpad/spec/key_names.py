"""The names of layouts and settings: those of a spec, and the engines' own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from moonpad.engines import ENGINES
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import field_names

LAYOUT_KEYS: Final = field_names(Layout)
_NO_KEYS: Final = frozenset({"executor", "state_pool_ratio"})
"""A spec's alone, and what a command line alone sets."""
SETTING_KEYS: Final = tuple(name for name in field_names(Settings) if name not in _NO_KEYS)


@cache
def key_names() -> Mapping[str, str]:
    """Each of these names → the spec's. `!`: the switch means the opposite."""
    names = {name: name for name in (*LAYOUT_KEYS, *SETTING_KEYS)}
    return names | {name: key for engine in ENGINES.values() for name, key in engine.facts.setting_names.items()}
