"""The backends that decode MLA attention: on which devices, with which KV cache, and which one an engine takes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Final

from msgspec import Meta, Struct

from moonpad.catalog.toml_rows import Provenance, rows

FILE: Final = "attention_backends.toml"


class Backend(Struct, frozen=True, kw_only=True):
    """`on` holds kinds of device (`sm9`, `cuda`, `rocm` …). A version is "" for as long as we know."""

    name: str
    engines: tuple[str, ...]
    on: tuple[str, ...]
    since: str = ""
    kv: Annotated[Mapping[str, str], Meta(min_length=1)]
    """Formats of the KV cache (`bf16`, `fp8` for E4M3, `fp8_e5m2`), each with the first version that has it."""
    fp8_from_sm: int = 0
    """An FP8 KV cache needs this compute capability; 0 for none."""
    fp8_unlisted: bool = False
    """The engine's own table of backends has no FP8 cache of latents for it, whatever its code takes."""
    block: int
    """The KV block must be a multiple of this many tokens."""
    dcp_since: str | None = None
    """The first version with decode context parallelism; None: it has none."""
    dcp_drafts_since: str = ""
    """The first version whose mask is right where a draft has several tokens of a request in a step beside it."""
    provenance: Provenance


class Order(Struct, frozen=True, kw_only=True):
    """What an engine takes by itself on a kind of device from a version on, best first."""

    engine: str
    on: str
    since: str = ""
    names: tuple[str, ...]
    provenance: Provenance


@cache
def backends() -> Mapping[str, Backend]:
    """Every backend by its name. Reads the data once."""
    return MappingProxyType({key: row.build(Backend, name=key) for key, row in rows(FILE, "backends")})


@cache
def orders() -> tuple[Order, ...]:
    """As the file has them: of one engine and device, older versions first."""
    return tuple(row.build(Order) for _, row in rows(FILE, "orders"))
