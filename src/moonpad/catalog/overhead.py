"""Defaults and overheads of the engines, by the version since which they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeVar, cast, get_args

from moonpad.catalog.rows import Provenance, Row, read_data
from moonpad.values.cluster import Device
from moonpad.values.units import GIB, MIB

FILE: Final = "overhead.toml"
NEWEST: Final = (1 << 30,)
"""What sorts after every version: an unknown version is taken to be the newest."""

Version = tuple[int, ...]
Budget = Literal["device", "static", "free", "told"]
"""What the memory fraction is a fraction of, and what has to fit into it; overhead.toml says each."""
Pipeline = Literal["inner", "last-each", "last-all", "first-each"]
"""Which stages take the layers that do not divide."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What an engine does since a version. `memory_fraction` None: the engine calculates it (`Reserve`)."""

    engine: str
    since: Version
    budget: Budget
    memory_fraction: float | None
    graphs_counted: bool
    tokens_by_request: bool
    kv_from_checkpoint: bool
    pipeline: Pipeline
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Batches:
    """Limits of a step for devices of at least `at_least_bytes`; `max_num_seqs` None: without meaning for memory."""

    engine: str
    since: Version
    at_least_bytes: float
    exceptions: tuple[str, ...]
    max_num_seqs: int | None
    max_num_batched_tokens: int
    graph_sequences: int
    per_rank: bool
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Reserve:
    """What SGLang leaves outside its static memory unasked; bytes, for devices of at least `at_least_bytes`."""

    engine: str
    since: Version
    at_least_bytes: float
    constant_bytes: float
    per_rank_bytes: float
    per_token_bytes: float
    per_sequence_bytes: float
    prefill_graphs_bytes: float
    floor_bytes: float
    attention_dp_bytes: float
    per_dp_sequence_bytes: float
    vision_factor: float
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class BlockSize:
    engine: str
    since: Version
    capability: str
    backend: str
    kv_fp8: bool | None
    size: int
    exact: bool
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Spread:
    """A value with its range."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> Spread:
        return Spread(self.value * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True, slots=True)
class Overhead:
    """Bytes a device; `forward` for one token of hidden 7168 with 8 experts, `sampler` for a sequence and a word."""

    engine: str
    since: Version
    context: Spread
    forward: Spread
    sampler: Spread
    graphs: Spread
    experts_high: float
    nodes_high: float
    default_spread: float
    """Either way, where the engine chose the memory fraction itself."""
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class HostProcess:
    """Bytes of host RAM that an engine takes beside weights and KV cache."""

    process_bytes: float
    provenance: Provenance


def version_key(text: str) -> Version:
    """`(0, 11, 1)` of `v0.11.1rc6.dev211`; `NEWEST` of what is no version."""
    found = re.match(r"v?(\d{1,6})((?:\.\d{1,6}){0,3})", text.strip())
    if found is None:
        return NEWEST
    return (int(found[1]), *(int(part) for part in found[2].split(".") if part))


def defaults_of(engine: str, version: str) -> Defaults:
    return _newest((row for row in _defaults() if row.engine == engine), engine, version)


def batches_of(engine: str, version: str, device: Device) -> Batches:
    found = (row for row in _batches() if row.engine == _like(engine) and _big_enough(row.at_least_bytes, device))
    return _largest((row for row in found if not _excepted(row.exceptions, device)), engine, version)


def reserve_of(engine: str, version: str, device: Device) -> Reserve:
    found = (row for row in _reserves() if row.engine == _like(engine) and _big_enough(row.at_least_bytes, device))
    return _largest(found, engine, version)


def overhead_of(engine: str, version: str) -> Overhead:
    return _newest((row for row in _overheads() if row.engine == engine), engine, version)


def block_of(engine: str, version: str, device: Device, backend: str | None, kv_fp8: bool) -> BlockSize:
    """The row of the attention backend, where one was asked for; else the one that says most of the device."""
    asked = (backend or "").upper().replace("-", "_")
    key = version_key(version)
    found = [row for row in _blocks() if row.engine == engine and row.since <= key]
    named = [row for row in found if row.backend and row.backend == asked]
    plain = [
        row
        for row in found
        if not row.backend and device.capability.startswith(row.capability) and row.kv_fp8 in (None, kv_fp8)
    ]
    if not plain:
        raise ValueError(f"{FILE}: no block size of {engine}")
    return max(named or plain, key=lambda row: (len(row.capability), row.since))


@cache
def host_processes() -> Mapping[str, HostProcess]:
    found: dict[str, HostProcess] = {}
    for key, row in _rows("hosts"):
        found[key] = HostProcess(_number(row, "process_gib") * GIB, row.provenance())
        row.done()
    return found


def _like(engine: str) -> str:
    """sglang-kt has the limits of SGLang 0.5, whose fork it is."""
    return "sglang" if engine == "ktransformers" else engine


def _big_enough(at_least_bytes: float, device: Device) -> bool:
    return device.usable_bytes >= at_least_bytes


def _excepted(exceptions: tuple[str, ...], device: Device) -> bool:
    return any(name.casefold() in device.product.casefold() for name in exceptions)


Aged = TypeVar("Aged", Defaults, Overhead)
Sized = TypeVar("Sized", Batches, Reserve)


def _newest(found: Iterable[Aged], engine: str, version: str) -> Aged:
    key = version_key(version)
    known = [row for row in found if row.since <= key]
    if not known:
        raise ValueError(f"{FILE} says nothing of {engine}")
    return max(known, key=lambda row: row.since)


def _largest(found: Iterable[Sized], engine: str, version: str) -> Sized:
    key = version_key(version) if engine == _like(engine) else NEWEST
    known = [row for row in found if row.since <= key]
    if not known:
        raise ValueError(f"{FILE} says nothing of {engine}")
    # A new table of sizes replaces an old one as a whole where it begins at 0; the vLLM rows only add to theirs.
    base = max((row.since for row in known if row.at_least_bytes == 0), default=())
    return max((row for row in known if row.since >= base), key=lambda row: (row.at_least_bytes, row.since))


@cache
def _document() -> Mapping[str, Any]:
    return read_data(FILE)


def _rows(section: str) -> Iterator[tuple[str, Row]]:
    """As `moonpad.catalog.rows.rows`, but the file, which has six sections, is parsed once."""
    defaults = {"checked": _document().get("checked")}
    for key, table in _document()[section].items():
        yield key, Row(f"{FILE}: {section}.{key}", table, defaults)


@cache
def _defaults() -> tuple[Defaults, ...]:
    found = []
    for _, row in _rows("defaults"):
        one = Defaults(
            row.text("engine"),
            version_key(row.text("since")),
            cast(Budget, _one_of(row, "budget", get_args(Budget))),
            row.number_or_none("memory_fraction"),
            row.flag("graphs_counted"),
            row.flag("tokens_by_request"),
            row.flag("kv_from_checkpoint"),
            cast(Pipeline, _one_of(row, "pipeline", get_args(Pipeline))),
            row.provenance(),
        )
        row.done()
        found.append(one)
    return tuple(found)


@cache
def _batches() -> tuple[Batches, ...]:
    found = []
    for _, row in _rows("batches"):
        one = Batches(
            row.text("engine"),
            version_key(row.text("since")),
            _number(row, "at_least_gib") * GIB,
            row.texts("except"),
            row.whole_or_none("max_num_seqs"),
            row.whole("max_num_batched_tokens"),
            row.whole("graph_sequences", 0),
            row.flag("per_rank", False),
            row.provenance(),
        )
        row.done()
        found.append(one)
    return tuple(found)


@cache
def _reserves() -> tuple[Reserve, ...]:
    found = []
    for _, row in _rows("reserves"):
        one = Reserve(
            row.text("engine"),
            version_key(row.text("since")),
            _number(row, "at_least_gib") * GIB,
            _mib(row, "constant_mib"),
            _mib(row, "per_rank_mib"),
            _mib(row, "per_token_mib"),
            _mib(row, "per_sequence_mib"),
            _mib(row, "prefill_graphs_mib"),
            _mib(row, "floor_mib"),
            _mib(row, "attention_dp_mib"),
            _mib(row, "per_dp_sequence_mib"),
            _number(row, "vision_factor"),
            row.provenance(),
        )
        row.done()
        found.append(one)
    return tuple(found)


@cache
def _blocks() -> tuple[BlockSize, ...]:
    found = []
    for _, row in _rows("blocks"):
        one = BlockSize(
            row.text("engine"),
            version_key(row.text("since")),
            row.text("capability", ""),
            row.text("backend", ""),
            row.flag("kv_fp8") if "kv_fp8" in row else None,
            row.whole("size"),
            row.flag("exact", False),
            row.provenance(),
        )
        row.done()
        found.append(one)
    return tuple(found)


@cache
def _overheads() -> tuple[Overhead, ...]:
    found = []
    for _, row in _rows("overheads"):
        one = Overhead(
            row.text("engine"),
            version_key(row.text("since")),
            _spread(row, "context", "gib", GIB),
            _spread(row, "forward", "gib", GIB / 1000),
            _spread(row, "sampler", "bytes", 1),
            _spread(row, "graphs", "gib", GIB),
            _number(row, "experts_high_gib", 0.0) * GIB,
            _number(row, "nodes_high_gib", 0.0) * GIB,
            _number(row, "default_spread_gib", 0.0) * GIB,
            row.provenance(),
        )
        row.done()
        found.append(one)
    return tuple(found)


def _spread(row: Row, name: str, unit: str, factor: float) -> Spread:
    value = _number(row, f"{name}_{unit}", 0.0)
    low, high = row.span(f"{name}_range_{unit}") or (value, value)
    if not 0 <= low <= value <= high:
        raise ValueError(f"{row.where}: {name} is {value}, not within {low} to {high}")
    return Spread(value, low, high).times(factor)


def _number(row: Row, key: str, default: float | None = None) -> float:
    value = row.number_or_none(key)
    if value is None:
        value = default
    if value is None or value < 0:
        raise ValueError(f"{row.where}: {key} is {value}")
    return value


def _mib(row: Row, key: str) -> float:
    return _number(row, key, 0.0) * MIB


def _one_of(row: Row, key: str, choices: tuple[str, ...]) -> str:
    text = row.text(key)
    if text not in choices:
        raise ValueError(f"{row.where}: {key} is {text!r}, not one of {', '.join(choices)}")
    return text
