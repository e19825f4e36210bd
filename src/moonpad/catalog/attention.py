"""The backends that decode MLA attention: on which devices, with which KV cache, and which one an engine takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from moonpad.catalog.rows import Provenance, Row, rows

FILE: Final = "attention_backends.toml"


@dataclass(frozen=True, slots=True)
class Backend:
    """`on` holds kinds of device (`sm9`, `cuda`, `rocm` …). A version is "" for as long as we know."""

    name: str
    engines: tuple[str, ...]
    on: tuple[str, ...]
    since: str
    kv: Mapping[str, str]
    """Formats of the KV cache (`bf16`, `fp8` for E4M3, `fp8_e5m2`), each with the first version that has it."""
    fp8_from_sm: int
    """An FP8 KV cache needs this compute capability; 0 for none."""
    block: int
    """The KV block must be a multiple of this many tokens."""
    dcp_since: str | None
    """The first version with decode context parallelism; None: it has none."""
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Order:
    """What an engine takes by itself on a kind of device from a version on, best first."""

    engine: str
    on: str
    since: str
    names: tuple[str, ...]
    provenance: Provenance


@cache
def backends() -> Mapping[str, Backend]:
    """Every backend by its name. Reads the data once."""
    return MappingProxyType({key: _backend(key, row) for key, row in rows(FILE, "backends")})


@cache
def orders() -> tuple[Order, ...]:
    """As the file has them: of one engine and device, older versions first."""
    return tuple(_order(row) for _, row in rows(FILE, "orders"))


def _backend(name: str, row: Row) -> Backend:
    found = Backend(
        name=name,
        engines=row.texts("engines"),
        on=row.texts("on"),
        since=row.text("since", ""),
        kv=MappingProxyType(_versions(row)),
        fp8_from_sm=row.whole("fp8_from_sm", 0),
        block=row.whole("block"),
        dcp_since=row.text("dcp_since") if "dcp_since" in row else None,
        provenance=row.provenance(),
    )
    row.done()
    return found


def _versions(row: Row) -> dict[str, str]:
    found = row.table("kv")
    if not found or not all(isinstance(version, str) for version in found.values()):
        raise ValueError(f"{row.where}: kv is {found!r}")
    return {str(name): str(version) for name, version in found.items()}


def _order(row: Row) -> Order:
    found = Order(row.text("engine"), row.text("on"), row.text("since", ""), row.texts("names"), row.provenance())
    row.done()
    return found
