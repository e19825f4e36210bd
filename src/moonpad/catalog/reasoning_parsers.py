"""Which models answer with their reasoning first, and which parsers take it out: data/reasoning_parsers.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "reasoning_parsers.toml"
_WITHOUT_THOUGHTS: Final = re.compile(
    r"(?:deepseek-v3(?:-0324)?(?:-base)?"
    r"|kimi-k2-(?:instruct|base)(?:-0905)?(?:[-_.](?:(?:nv|mx)?fp[48]|int[48]|bf16|awq|gptq|gguf|w\d{1,2}a\d{1,2})[\w.-]*)?)$",
    re.IGNORECASE | re.ASCII,
)


class ReasoningFamily(Struct, frozen=True, kw_only=True):
    name: Text
    parsers: tuple[str, ...]
    provenance: Provenance


@cache
def reasoning_families() -> Mapping[str, ReasoningFamily]:
    """By their keys."""
    return {key: row.build(ReasoningFamily) for key, row in rows(FILE, "families")}


def reasoning_family(written: str) -> ReasoningFamily | None:
    """Of a repository, a path or a served name."""
    last = written[-400:].rstrip("/").rpartition("/")[2].rpartition("--")[2]
    plain = last.casefold().replace("_", "-")
    return next((row for row in reasoning_families().values() if re.fullmatch(row.name, plain)), None)


def without_thoughts(written: str) -> bool:
    """Whether a repository, or the folder that is called after it, is of a model that never thinks."""
    return _WITHOUT_THOUGHTS.match(written[-400:].rstrip("/").rpartition("/")[2]) is not None
