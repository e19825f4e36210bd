"""Defaults of the engines that decide about memory, by the version since which they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct

from moonpad.catalog.toml_rows import Amount, Provenance, Row, rows
from moonpad.values.cluster import Device
from moonpad.values.versions import Order, order
from moonpad.values.versions import since as is_since

FILE: Final = "overhead.toml"

Budget = Literal["device", "static", "free", "told", "asked"]
"""What the memory fraction is a fraction of, and what has to fit into it; overhead.toml says each."""
Pipeline = Literal["inner", "last-each", "last-all", "first-each", "with-output"]
"""Which stages take the layers that do not divide."""


class Since(Struct, frozen=True, kw_only=True):
    """What holds for an engine from a version on."""

    engine: str
    since: str
    provenance: Provenance


Held = TypeVar("Held", bound=Since)
Sized = TypeVar("Sized", "Batches", "Reserve")


class Defaults(Since, frozen=True, kw_only=True):
    """What an engine does since a version. `memory_fraction` None: the engine calculates it (`Reserve`)."""

    budget: Budget
    memory_fraction: float | None = None
    graphs_counted: bool
    tokens_by_request: bool
    kv_from_checkpoint: bool
    pipeline: Pipeline


class Batches(Since, frozen=True, kw_only=True):
    """Limits of a step for devices of at least `at_least_bytes`; `max_num_seqs` None: without meaning for memory."""

    at_least_bytes: Amount
    exceptions: tuple[str, ...]
    max_num_seqs: int | None = None
    max_num_batched_tokens: int
    graph_sequences: int = 0
    per_rank: bool = False


class Reserve(Since, frozen=True, kw_only=True):
    """What SGLang leaves outside its static memory by default; bytes, for devices of at least `at_least_bytes`."""

    at_least_bytes: Amount
    constant_bytes: Amount = 0
    per_rank_bytes: Amount = 0
    per_token_bytes: Amount = 0
    per_sequence_bytes: Amount = 0
    prefill_graphs_bytes: Amount = 0
    """Not with a vision tower, a draft, a pipeline, attention or context parallelism, nor outside of CUDA."""
    draft_bytes: Amount = 0
    floor_bytes: Amount = 0
    attention_dp_bytes: Amount = 0
    per_dp_sequence_bytes: Amount = 0
    vision_factor: Amount


class Scale(Since, frozen=True, kw_only=True):
    """What an engine multiplies its memory fraction by, with an attention backend and a context of more tokens."""

    backend: str
    above_tokens: int
    factor: float
    kept_since: str
    """The first release that can be told to take the fraction as it was asked for."""


class BlockSize(Since, frozen=True, kw_only=True):
    capability: str = ""
    backend: str = ""
    kv_fp8: bool | None = None
    size: int
    exact: bool = False


class HostProcess(Struct, frozen=True):
    """Bytes of host RAM that an engine takes beside weights and KV cache."""

    process_bytes: Amount
    provenance: Provenance


@cache
def table(kind: type[Held], section: str) -> tuple[Held, ...]:
    """The rows of a section in the order of the file. Reads the data once."""
    return tuple(row.build(kind, **_converted(kind, row)) for _, row in rows(FILE, section))


def _converted(kind: type[Held], row: Row) -> dict[str, Any]:
    return {"exceptions": row.pop("except", ())} if kind is Batches else {}


@cache
def host_processes() -> Mapping[str, HostProcess]:
    return {key: row.build(HostProcess) for key, row in rows(FILE, "hosts")}


@lru_cache(maxsize=256)
def defaults_of(engine: str, version: str) -> Defaults:
    defaults: tuple[Defaults, ...] = table(Defaults, "defaults")
    return max(known_rows(defaults, engine, version), key=_age)


@lru_cache(maxsize=256)
def batches_of(engine: str, version: str, device: Device) -> Batches:
    product = device.product.casefold()
    batches: tuple[Batches, ...] = table(Batches, "batches")
    usual = [row for row in batches if not any(name.casefold() in product for name in row.exceptions)]
    return _largest(usual, engine, version, device)


@lru_cache(maxsize=256)
def reserve_of(engine: str, version: str, device: Device) -> Reserve:
    reserves: tuple[Reserve, ...] = table(Reserve, "reserves")
    return _largest(reserves, engine, version, device)


@lru_cache(maxsize=256)
def block_of(engine: str, version: str, capability: str, backend: str | None, kv_fp8: bool) -> BlockSize:
    """The row of the attention backend that was named; else the one that says most of the device's capability."""
    name = (backend or "").upper().replace("-", "_")
    sizes: tuple[BlockSize, ...] = table(BlockSize, "blocks")
    blocks = known_rows(sizes, engine, version)
    named = [row for row in blocks if row.backend and row.backend == name]
    plain = [
        row
        for row in blocks
        if not row.backend and capability.startswith(row.capability) and row.kv_fp8 in (None, kv_fp8)
    ]
    return max(named or plain, key=lambda row: (len(row.capability), order(row.since)))


@lru_cache(maxsize=256)
def scales_of(engine: str, version: str) -> tuple[Scale, ...]:
    """() for most engines."""
    scales: tuple[Scale, ...] = table(Scale, "scales")
    return tuple(row for row in scales if row.engine == engine and is_since(version, row.since))


def known_rows(rows: Iterable[Held], engine: str, version: str) -> list[Held]:
    """The rows of an engine that hold in a version."""
    matching = [row for row in rows if row.engine == engine and is_since(version, row.since)]
    if not matching:
        raise ValueError(f"{FILE} has no such row of {engine} {version}")
    return matching


def _age(row: Since) -> Order:
    return order(row.since)


def _largest(rows: Iterable[Sized], engine: str, version: str, device: Device) -> Sized:
    if engine == "ktransformers":  # its fork of SGLang 0.5 has SGLang's limits, and other versions
        engine, version = "sglang", ""
    fitting = [row for row in known_rows(rows, engine, version) if device.usable_bytes >= row.at_least_bytes]
    # A new table of sizes replaces an old one as a whole where it begins at 0; the vLLM rows only add to theirs.
    base = max((_age(row) for row in fitting if row.at_least_bytes == 0), default=order("0"))
    current = [row for row in fitting if _age(row) >= base]
    return max(current, key=lambda row: (row.at_least_bytes, _age(row)))
