"""The first release of Transformers that knows a model's type: data/transformers_types.toml."""

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
