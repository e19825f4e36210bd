"""Why a rule of legality holds: its sentence, the evidence, how sure it is. The rules themselves are in plan/rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from moonpad.catalog.toml_rows import Provenance, rows

FILE: Final = "rules.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """`engines`: whom it holds for; () for all."""

    id: str
    sentence: str
    evidence: str
    engines: tuple[str, ...] = ()
    provenance: Provenance


@cache
def rule_rows() -> Mapping[str, RuleRow]:
    """Every rule by its id. Reads the data once."""
    return MappingProxyType({key: row.build(RuleRow, id=key) for key, row in rows(FILE, "rules")})
