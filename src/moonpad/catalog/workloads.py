"""Loads that have a name: `chat`, `agent`, `rag`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Row, rows
from moonpad.values.workload import Lengths

FILE: Final = "workloads.toml"


class NamedWorkload(Struct, frozen=True, kw_only=True):
    """Lengths in tokens. `shared_prefix`: of each prompt, what the engine has computed for an earlier request."""

    name: str
    title: str
    input: Lengths
    output: Lengths
    shared_prefix: float
    provenance: Provenance


@cache
def workloads() -> Mapping[str, NamedWorkload]:
    """Every one by its name. Reads the data once."""
    return MappingProxyType({key: _workload(key, row) for key, row in rows(FILE, "workloads")})


def _workload(key: str, row: Row) -> NamedWorkload:
    return NamedWorkload(
        name=key,
        input=_lengths(row, "input"),
        output=_lengths(row, "output"),
        title=str(row.take("title")),
        shared_prefix=float(row.take("shared_prefix")),
        provenance=row.provenance(),
    )


def _lengths(row: Row, what: str) -> Lengths:
    if ends := row.span(f"{what}_range"):
        return Lengths.uniform(*ends)
    return Lengths.lognormal(float(row.take(f"{what}_mean")), float(row.take(f"{what}_variation")))
