"""What is known of models that moonpad does not plan: data/other_models.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "other_models.toml"
_FORMATS: Final = r"w\d+a\d+|fp\d|nvfp4|mxfp4|bf16|int\d|awq|gptq|gguf|quarot|i?q\d\w*|\d+bit"
_BEHIND: Final = re.compile(rf"-(?:{_FORMATS}|\d{{4}}|mtp|base|hf|v\d)\Z")
_FORMAT: Final = re.compile(rf"-(?:{_FORMATS})(?=-|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherModel:
    """`least_bytes`: of the weights as published, without what was not counted."""

    name: Text
    title: Text
    heads: int
    least_bytes: int
    any_format: bool = False
    """`least_bytes` holds for weights that others made too."""
    provenance: Provenance


@cache
def other_models() -> Mapping[str, OtherModel]:
    """By their keys."""
    return {key: row.build(OtherModel) for key, row in rows(FILE, "models")}


def other_model(written: str) -> OtherModel | None:
    """What a repository or a path means; None for one that was pruned, or made into something else."""
    stem = _last_part(written)
    while (shorter := _BEHIND.sub("", stem)) != stem:
        stem = shorter
    return next((row for row in other_models().values() if re.fullmatch(row.name, stem)), None)


def as_published(written: str) -> bool:
    """Whether the name says no other format of the weights."""
    return _FORMAT.search(_last_part(written)) is None


def _last_part(written: str) -> str:
    parts = [part for part in written[-400:].casefold().replace("_", "-").split("/") if part]
    cached = next((part.rpartition("--")[2] for part in parts if part.startswith("models--")), "")
    return cached or (parts[-1] if parts else "")
