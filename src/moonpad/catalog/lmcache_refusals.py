"""What LMCache refuses of its own settings, and the keys that it has: data/lmcache_refusals.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.toml_rows import Provenance, Text, read_data, rows

FILE: Final = "lmcache_refusals.toml"


class LMCacheRefusal(Struct, frozen=True, kw_only=True):
    """LMCache from release `since` on and before release `until` refuses or passes over what is `given`."""

    since: str = ""
    until: str = ""
    named: bool = False
    """Only where the text names the release."""
    latent: bool = False
    """Of models with latent attention alone."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Keys that are there → what their values are, as a regular expression of the whole."""
    lacks: tuple[str, ...] = ()
    """Keys none of which is there."""
    message: Text
    """`{model}` is the model's name."""
    remedy: Text
    provenance: Provenance


@cache
def lmcache_refusals() -> Mapping[str, LMCacheRefusal]:
    """By their keys."""
    return {key: row.build(LMCacheRefusal) for key, row in rows(FILE, "refusals")}


@cache
def lmcache_keys() -> frozenset[str]:
    """Those of its file, of any release that was read."""
    return frozenset(map(str, read_data(FILE)["keys"]))
