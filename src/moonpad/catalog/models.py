"""The checkpoints that moonpad knows by name, with what their weights take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from moonpad.catalog.gguf import ambiguous_repository, gguf_models
from moonpad.catalog.model import Model
from moonpad.catalog.parts import architectures, quantizations
from moonpad.catalog.rows import Row, rows, unique

__all__ = ["Model", "find_model", "models"]

FILE: Final = "models.toml"


@cache
def models() -> Mapping[str, Model]:
    """Every checkpoint by its id. Reads the data once."""
    found = (*(_model(key, row) for key, row in rows(FILE, "models")), *_ggufs())
    unique(FILE, (name.casefold() for model in found for name in (model.id, *model.aliases)))
    return MappingProxyType({model.id: model for model in found})


def find_model(name: str) -> Model | None:
    """The checkpoint that a name or a path means, by its id, an alias, or the last parts of a path, in any case.

    A cache folder of Hugging Face (`…/models--moonshotai--Kimi-K2-Thinking/snapshots/…`) means what it caches. A GGUF
    repository with several quantisations gives a refused model whose sentence names them. None where nothing is meant.
    """
    parts = [part for part in name.strip().casefold().replace("\\", "/").split("/") if part]
    for part in parts:
        if part.startswith("models--"):
            parts = part.removeprefix("models--").split("--")
            break
    for last in (2, 1):
        if len(parts) >= last and (found := _names().get("/".join(parts[-last:]))) is not None:
            return found
    return None


@cache
def _names() -> Mapping[str, Model]:
    """By id, alias and last part, casefolded; a last part that two checkpoints share means neither of them."""
    found: dict[str, Model] = {}
    sharing: dict[str, list[Model]] = {}
    for model in (*models().values(), *_ambiguous()):
        for name in (model.id, *model.aliases):
            found[name.casefold()] = model
            sharing.setdefault(name.rpartition("/")[2].casefold(), []).append(model)
    for name, ones in sharing.items():
        if all(one is ones[0] for one in ones):
            found.setdefault(name, ones[0])
    return found


def _ambiguous() -> Iterator[Model]:
    repositories: dict[str, list[Model]] = {}
    for model in _ggufs():
        repositories.setdefault(model.id.partition(":")[0], []).append(model)
    for repository, files in repositories.items():
        if len(files) > 1:
            yield ambiguous_repository(repository, tuple(files))


@cache
def _ggufs() -> tuple[Model, ...]:
    found: list[Model] = []
    for repository, row in rows(FILE, "gguf"):
        architecture = architectures()[row.text("architecture")]
        found.extend(gguf_models(repository, row, architecture, quantizations()["gguf"]))
    return tuple(found)


def _model(key: str, row: Row) -> Model:
    architecture = architectures()[row.text("architecture")] if "architecture" in row else None
    quantization = quantizations()[row.text("quantization")] if "quantization" in row else None
    provenance = row.provenance()
    total = row.whole_or_none("total_bytes")
    low, high = _range(row, total)
    model = Model(
        id=key,
        aliases=row.texts("aliases"),
        architecture=architecture.value if architecture else None,
        quantization=quantization.value if quantization else None,
        total_bytes=total,
        total_low_bytes=low,
        total_high_bytes=high,
        rotary_in_files=architecture.rotary_in_files if architecture else False,
        formats_known=quantization.formats_known if quantization else False,
        refused=row.text("refused", ""),
        standing=provenance.standing,
        source=provenance.source,
        checked=provenance.checked,
        notes=row.text("notes", ""),
        license=row.text("license", ""),
        shards=row.whole_or_none("shards"),
        tensors=row.whole_or_none("tensors"),
        hub=row.text("hub", "Hugging Face"),
        architecture_name=architecture.name if architecture else "",
        quantization_name=quantization.name if quantization else "",
    )
    row.done()
    if not model.refused and (architecture is None or quantization is None or total is None):
        raise ValueError(f"{row.where}: a model that is not refused has architecture, quantization and total_bytes")
    return model


def _range(row: Row, total: int | None) -> tuple[int | None, int | None]:
    ends = row.wholes("range")
    if not ends:
        return total, total
    if total is None or len(ends) != 2 or not ends[0] <= total <= ends[1]:
        raise ValueError(f"{row.where}: the range {ends!r} does not hold {total}")
    return ends[0], ends[1]
