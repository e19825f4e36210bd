"""The first release of Transformers that knows a model's type, and the releases that an engine asks for:
data/transformers_types.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "transformers_types.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformersType:
    first: Text
    provenance: Provenance


@cache
def transformers_types() -> Mapping[str, TransformersType]:
    """By `model_type` of config.json."""
    return {key: row.build(TransformersType) for key, row in rows(FILE, "types")}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTransformers:
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
