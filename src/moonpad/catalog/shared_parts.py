"""What checkpoints share: architectures and quantisation schemes, each written once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from types import MappingProxyType

from moonpad.catalog.toml_rows import Provenance, Row, rows
from moonpad.values.checkpoint import Architecture, Component, Quantization, TensorFormat


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
    by_name: dict[str, KnownArchitecture] = {}
    for key, row in rows("architectures.toml", "architectures"):
        provenance = row.provenance()
        if base := by_name.get(row.pop("extends", "")):
            row = Row(row.where, {**asdict(base.value), "rotary_in_files": base.rotary_in_files, **row})
        rotary = row.take("rotary_in_files")
        by_name[key] = KnownArchitecture(key, row.build(Architecture), rotary, provenance)
    return MappingProxyType(by_name)


@cache
def quantizations() -> Mapping[str, KnownQuantization]:
    formats = {key: row.build(TensorFormat) for key, row in rows("quantizations.toml", "formats")}
    by_name: dict[str, KnownQuantization] = {}
    for key, row in rows("quantizations.toml", "schemes"):
        provenance, formats_known = row.provenance(), row.pop("formats_known", True)
        value = row.build(Quantization, formats=_components(row, formats))
        by_name[key] = KnownQuantization(key, value, formats_known, provenance)
    return MappingProxyType(by_name)


def _components(row: Row, formats: Mapping[str, TensorFormat]) -> dict[Component, TensorFormat]:
    by_component: dict[Component, TensorFormat] = {}
    for name, components in row.pop("formats", {}).items():
        if name not in formats:
            raise row.error(f"there is no format {name}")
        for component in map(Component, components):
            if component in by_component:
                raise row.error(f"{component} has two formats")
            by_component[component] = formats[name]
    return by_component
