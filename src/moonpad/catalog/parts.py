"""What checkpoints share: architectures and quantisation schemes, each written once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from moonpad.catalog.rows import Provenance, Row, read_data, rows
from moonpad.values.checkpoint import Architecture, Component, Quantization, TensorFormat

_TEXTS: Final = ("model_type", "topk_method", "scoring")


@dataclass(frozen=True, slots=True)
class KnownArchitecture:
    """`rotary_in_files`: whether each layer brings a `rotary_emb.inv_freq` of hidden / heads / 2 FP32 values."""

    name: str
    value: Architecture
    rotary_in_files: bool
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class KnownQuantization:
    """`formats_known` False: the weights are not BF16, and nothing but a size says what they take (GGUF)."""

    name: str
    value: Quantization
    formats_known: bool
    provenance: Provenance


@cache
def architectures() -> Mapping[str, KnownArchitecture]:
    name = "architectures.toml"
    tables = read_data(name)["architectures"]
    found: dict[str, KnownArchitecture] = {}
    for key, row in rows(name, "architectures"):
        base = _figures(tables[row.text("extends")]) if "extends" in row else {}
        merged = Row(row.where, {**base, **_figures(tables[key])})
        provenance = row.provenance()
        rotary = merged.flag("rotary_in_files")
        found[key] = KnownArchitecture(key, _architecture(merged), rotary, provenance)
        merged.done()
    return MappingProxyType(found)


def _figures(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in ("extends", "source", "standing", "checked")}


def _architecture(row: Row) -> Architecture:
    values: dict[str, Any] = {}
    for one in fields(Architecture):
        if one.name not in row:
            continue  # the field's own default; a field without one is named by Python itself
        if one.name in _TEXTS:
            values[one.name] = row.text(one.name)
        elif one.name == "tied_embeddings":
            values[one.name] = row.flag(one.name)
        else:
            values[one.name] = row.whole(one.name)
    try:
        return Architecture(**values)
    except TypeError as error:
        raise ValueError(f"{row.where}: {error}") from None


@cache
def quantizations() -> Mapping[str, KnownQuantization]:
    name = "quantizations.toml"
    formats = {key: _format(row) for key, row in rows(name, "formats")}
    found: dict[str, KnownQuantization] = {}
    for key, row in rows(name, "schemes"):
        value = Quantization(
            row.text("scheme"), row.text("method", ""), _components(row, formats), row.text("kv_cache", "") or None
        )
        found[key] = KnownQuantization(key, value, row.flag("formats_known", True), row.provenance())
        row.done()
    return MappingProxyType(found)


def _format(row: Row) -> TensorFormat:
    block = row.wholes("block")
    if block and (len(block) != 2 or min(block) < 1):
        raise ValueError(f"{row.where}: block is {block!r}")
    value = TensorFormat(
        row.text("name"),
        row.whole("bits"),
        (block[0], block[1]) if block else None,
        row.whole("scale_bytes", 0),
        row.whole("extra_bytes", 0),
        row.whole("extra_tensors", 0),
    )
    row.done()
    return value


def _components(row: Row, formats: Mapping[str, TensorFormat]) -> dict[Component, TensorFormat]:
    found: dict[Component, TensorFormat] = {}
    for name, components in row.table("formats").items():
        if name not in formats:
            raise ValueError(f"{row.where}: there is no format {name}")
        for component in map(Component, components):
            if component in found:
                raise ValueError(f"{row.where}: {component} has two formats")
            found[component] = formats[name]
    return found
