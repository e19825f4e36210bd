"""The names of layouts and settings: those of a spec, and the engines' own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Final

from moonpad.engines import ENGINES
from moonpad.values.plan import Layout, Settings

LAYOUT_KEYS: Final = tuple(field.name for field in fields(Layout))
SETTING_KEYS: Final = tuple(field.name for field in fields(Settings) if field.name != "executor")  # a spec's alone


@cache
def key_names() -> Mapping[str, str]:
    """Each of these names → the spec's. `!`: the switch means the opposite."""
    names = {name: name for name in (*LAYOUT_KEYS, *SETTING_KEYS)}
    return names | {name: key for engine in ENGINES.values() for name, key in engine.facts.setting_names.items()}
