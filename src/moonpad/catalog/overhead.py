"""Defaults and overheads of the engines, by the version since which they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeVar

from moonpad.catalog.toml_rows import Amount, Provenance, Row, rows
from moonpad.values.cluster import Device
from moonpad.values.units import GIB
from moonpad.values.versions import order
from moonpad.values.versions import since as is_since

FILE: Final = "overhead.toml"

Budget = Literal["device", "static", "free", "told", "asked"]
"""What the memory fraction is a fraction of, and what has to fit into it; overhead.toml says each."""
Pipeline = Literal["inner", "last-each", "last-all", "first-each", "with-output"]
"""Which stages take the layers that do not divide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """What holds for an engine from a version on."""

    engine: str
    since: str
    provenance: Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults(Since):
    """What an engine does since a version. `memory_fraction` None: the engine calculates it (`Reserve`)."""

    budget: Budget
    memory_fraction: float | None = None
    graphs_counted: bool
    tokens_by_request: bool
    kv_from_checkpoint: bool
    pipeline: Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches(Since):
    """Limits of a step for devices of at least `at_least_bytes`; `max_num_seqs` None: without meaning for memory."""

    at_least_bytes: Amount
    exceptions: tuple[str, ...]
    max_num_seqs: int | None = None
    max_num_batched_tokens: int
    graph_sequences: int = 0
    per_rank: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserve(Since):
    """What SGLang leaves outside its static memory by default; bytes, for devices of at least `at_least_bytes`."""

    at_least_bytes: Amount
    constant_bytes: Amount = 0
    per_rank_bytes: Amount = 0
    per_token_bytes: Amount = 0
    per_sequence_bytes: Amount = 0
    prefill_graphs_bytes: Amount = 0
    floor_bytes: Amount = 0
    attention_dp_bytes: Amount = 0
    per_dp_sequence_bytes: Amount = 0
    vision_factor: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSize(Since):
    capability: str = ""
    backend: str = ""
    kv_fp8: bool | None = None
    size: int
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Spread:
    """A value with its range."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> Spread:
        return Spread(self.value * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead(Since):
    """Bytes a device; `forward` for one token of hidden 7168 with 8 experts, `sampler` for a sequence and a word."""

    context: Spread
    forward: Spread
    sampler: Spread
    graphs: Spread
    experts_high_bytes: Amount = 0
    nodes_high_bytes: Amount = 0
    default_spread_bytes: Amount = 0
    """Either way, where the engine chose the memory fraction itself."""


@dataclass(frozen=True, slots=True)
class HostProcess:
    """Bytes of host RAM that an engine takes beside weights and KV cache."""

    process_bytes: Amount
    provenance: Provenance


def defaults_of(engine: str, version: str) -> Defaults:
    return _newest(_defaults(), engine, version)


def overhead_of(engine: str, version: str) -> Overhead:
    return _newest(_overheads(), engine, version)


def batches_of(engine: str, version: str, device: Device) -> Batches:
    rows = [row for row in _batches() if not _excepted(row.exceptions, device)]
    return _largest(rows, engine, version, device)


def reserve_of(engine: str, version: str, device: Device) -> Reserve:
    return _largest(_reserves(), engine, version, device)


def block_of(engine: str, version: str, capability: str, backend: str | None, kv_fp8: bool) -> BlockSize:
    """The row of the attention backend that was named; else the one that says most of the device's capability."""
    name = (backend or "").upper().replace("-", "_")
    blocks = _known(_blocks(), engine, version)
    named = [row for row in blocks if row.backend and row.backend == name]
    plain = [
        row
        for row in blocks
        if not row.backend and capability.startswith(row.capability) and row.kv_fp8 in (None, kv_fp8)
    ]
    return max(named or plain, key=lambda row: (len(row.capability), order(row.since)))


@cache
def host_processes() -> Mapping[str, HostProcess]:
    return {key: row.build(HostProcess) for key, row in rows(FILE, "hosts")}


Aged = TypeVar("Aged", bound=Since)
Sized = TypeVar("Sized", Batches, Reserve)


def _known(rows: Iterable[Aged], engine: str, version: str) -> list[Aged]:
    """The rows of an engine that hold in a version."""
    matching = [row for row in rows if row.engine == engine and is_since(version, row.since)]
    if not matching:
        raise ValueError(f"{FILE} has no such row of {engine} {version}")
    return matching


def _newest(rows: Iterable[Aged], engine: str, version: str) -> Aged:
    return max(_known(rows, engine, version), key=lambda row: order(row.since))


def _largest(rows: Iterable[Sized], engine: str, version: str, device: Device) -> Sized:
    if engine == "ktransformers":  # its fork of SGLang 0.5 has SGLang's limits, and other versions
        engine, version = "sglang", ""
    fitting = [row for row in _known(rows, engine, version) if device.usable_bytes >= row.at_least_bytes]
    # A new table of sizes replaces an old one as a whole where it begins at 0; the vLLM rows only add to theirs.
    base = max((order(row.since) for row in fitting if row.at_least_bytes == 0), default=order("0"))
    current = [row for row in fitting if order(row.since) >= base]
    return max(current, key=lambda row: (row.at_least_bytes, order(row.since)))


def _excepted(exceptions: tuple[str, ...], device: Device) -> bool:
    return any(name.casefold() in device.product.casefold() for name in exceptions)


@cache
def _defaults() -> tuple[Defaults, ...]:
    return tuple(row.build(Defaults) for _, row in rows(FILE, "defaults"))


@cache
def _batches() -> tuple[Batches, ...]:
    return tuple(row.build(Batches, exceptions=row.pop("except", ())) for _, row in rows(FILE, "batches"))


@cache
def _reserves() -> tuple[Reserve, ...]:
    return tuple(row.build(Reserve) for _, row in rows(FILE, "reserves"))


@cache
def _blocks() -> tuple[BlockSize, ...]:
    return tuple(row.build(BlockSize) for _, row in rows(FILE, "blocks"))


@cache
def _overheads() -> tuple[Overhead, ...]:
    return tuple(
        row.build(
            Overhead,
            context=_spread(row, "context", "gib", GIB),
            forward=_spread(row, "forward", "gib", GIB / 1000),
            sampler=_spread(row, "sampler", "bytes", 1),
            graphs=_spread(row, "graphs", "gib", GIB),
        )
        for _, row in rows(FILE, "overheads")
    )


def _spread(row: Row, name: str, unit: str, factor: float) -> Spread:
    value, _ = row.span(f"{name}_{unit}") or (0.0, 0.0)
    low, high = row.span(f"{name}_range_{unit}") or (value, value)
    if not 0 <= low <= value <= high:
        raise row.error(f"{name} is {value}, not within {low} to {high}")
    return Spread(value, low, high).times(factor)
