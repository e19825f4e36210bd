"""The first release of Transformers that knows a model's type, and the releases that an engine asks for:
data/transformers_types.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "transformers_types.toml"


class TransformersType(Struct, frozen=True, kw_only=True):
    first: Text
    not_for: tuple[str, ...] = ()
    """Engines that read another file than the config.json that Transformers reads."""
    provenance: Provenance


@cache
def transformers_types() -> Mapping[str, TransformersType]:
    """By `model_type` of config.json."""
    return {key: row.build(TransformersType) for key, row in rows(FILE, "types")}


class AskedTransformers(Struct, frozen=True, kw_only=True):
    """What the packages of `engine` from `since` to `last`, both read, ask for."""

    engine: Text
    since: Text
    last: Text
    asks: Text
    below: Text
    """The first release that they do not take."""
    provenance: Provenance


@cache
def asked_transformers() -> tuple[AskedTransformers, ...]:
    return tuple(row.build(AskedTransformers) for _, row in rows(FILE, "asked"))
