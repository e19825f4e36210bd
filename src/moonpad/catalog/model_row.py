"""One checkpoint of the catalogue, and what checkpoints share: architectures and quantisation schemes."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Row, Standing, rows
from moonpad.values.checkpoint import Architecture, Component, Quantization, TensorFormat
from moonpad.values.records import as_dict


class Model(Struct, frozen=True, kw_only=True):
    """A checkpoint by its name. `refused` is a sentence where moonpad cannot plan it, "" where it can.

    `total_bytes` counts tensors, without the headers of the files; `standing` is its standing. `formats_known` False
    (GGUF): it alone says what the weights take, and `quantization.formats` says nothing. Architecture, quantisation and
    size are there whenever `refused` is "".
    """

    id: str
    base: str = ""
    """The checkpoint that it was made of, in another format; "" where it is one of its own."""
    aliases: tuple[str, ...] = ()
    architecture: Architecture | None = None
    quantization: Quantization | None = None
    total_bytes: int | None = None
    total_low_bytes: int | None = None
    total_high_bytes: int | None = None
    rotary_in_files: bool = False
    formats_known: bool = False
    refused: str = ""
    standing: Standing
    source: str
    checked: str
    """The day on which the source was last checked, `2026-11-20`."""
    notes: str = ""
    license: str = ""
    """"" where none was seen."""
    shards: int | None = None
    tensors: int | None = None
    """How many tensors the files hold, as they or their published index say; None: not seen."""
    hub: str = "Hugging Face"
    architecture_name: str = ""
    """The row of architectures.toml."""
    quantization_name: str = ""
    """The row of quantizations.toml."""

    @property
    def exact(self) -> bool:
        """Whether the size is known to the byte."""
        return self.total_bytes is not None and self.total_low_bytes == self.total_high_bytes


class KnownArchitecture(Struct, frozen=True):
    """`rotary_in_files`: whether each layer brings a `rotary_emb.inv_freq` of hidden / heads / 2 values."""

    name: str
    value: Architecture
    rotary_in_files: bool
    provenance: Provenance


class KnownQuantization(Struct, frozen=True):
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
            row = Row(row.where, {**as_dict(base.value), "rotary_in_files": base.rotary_in_files, **row})
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
