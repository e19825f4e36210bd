"""GGUF repositories: one checkpoint for each quantisation in them, of which only the size is known."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.catalog.model_row import Model, architectures, quantizations
from moonpad.catalog.toml_rows import Row
from moonpad.values.records import replace


def gguf_models(repository: str, row: Row) -> Iterator[Model]:
    """`REPOSITORY:QUANTISATION` each, as llama.cpp writes it; where there is but one, the repository is its alias."""
    architecture, quantization = architectures()[row.take("architecture")], quantizations()["gguf"]
    files = row.take("files")
    for name, sizes in files.items():
        total, low, high = sizes
        if not 0 < low <= total <= high:
            raise row.error(f"files.{name} is {sizes}, not [size, low, high]")
        yield row.build(
            Model,
            id=f"{repository}:{name}",
            aliases=(*((repository,) if len(files) == 1 else ()), f"{_stem(repository)}-{name}"),
            architecture=architecture.value,
            quantization=quantization.value,
            total_bytes=total,
            total_low_bytes=low,
            total_high_bytes=high,
            formats_known=quantization.formats_known,
            architecture_name=architecture.name,
            quantization_name=quantization.name,
        )


def _stem(repository: str) -> str:
    """`Kimi-K2-Instruct` of `unsloth/Kimi-K2-Instruct-GGUF`: how the names of its files begin."""
    return repository.rpartition("/")[2].removesuffix("-GGUF")


def ambiguous_repository(repository: str, files: tuple[Model, ...]) -> Model:
    """What the bare name of a repository with several quantisations means: a refusal that names them."""
    return replace(
        files[0],
        id=repository,
        aliases=(),
        total_bytes=None,
        total_low_bytes=None,
        total_high_bytes=None,
        formats_known=False,
        refused=f"{repository} holds several quantisations; name one of {', '.join(model.id for model in files)}.",
        notes="",
    )
