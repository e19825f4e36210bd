"""GGUF repositories: one checkpoint for each quantisation in them, of which only the size is known."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.catalog.model import Model
from moonpad.catalog.parts import KnownArchitecture, KnownQuantization
from moonpad.catalog.rows import Row


def gguf_models(
    repository: str, row: Row, architecture: KnownArchitecture, quantization: KnownQuantization
) -> Iterator[Model]:
    """`REPOSITORY:QUANTISATION` each, as llama.cpp writes it; where there is but one, the repository is its alias."""
    provenance, notes = row.provenance(), row.text("notes", "")
    files = row.table("files")
    row.done()
    sizes = Row(f"{row.where}.files", files)
    for name in files:
        size = sizes.wholes(name)
        if len(size) != 3 or not 0 < size[1] <= size[0] <= size[2]:
            raise ValueError(f"{sizes.where}: {name} is no [size, low, high]")
        yield Model(
            id=f"{repository}:{name}",
            aliases=(repository,) if len(files) == 1 else (),
            architecture=architecture.value,
            quantization=quantization.value,
            total_bytes=size[0],
            total_low_bytes=size[1],
            total_high_bytes=size[2],
            rotary_in_files=False,
            formats_known=quantization.formats_known,
            refused="",
            standing=provenance.standing,
            source=provenance.source,
            checked=provenance.checked,
            notes=notes,
            architecture_name=architecture.name,
            quantization_name=quantization.name,
        )


def ambiguous_repository(repository: str, files: tuple[Model, ...]) -> Model:
    """What the bare name of a repository with several quantisations means: a refusal that names them."""
    first = files[0]
    return Model(
        id=repository,
        aliases=(),
        architecture=first.architecture,
        quantization=first.quantization,
        total_bytes=None,
        total_low_bytes=None,
        total_high_bytes=None,
        rotary_in_files=False,
        formats_known=False,
        refused=f"{repository} holds several quantisations; name one of {', '.join(model.id for model in files)}.",
        standing=first.standing,
        source=first.source,
        checked=first.checked,
        architecture_name=first.architecture_name,
        quantization_name=first.quantization_name,
    )
