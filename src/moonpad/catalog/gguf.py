"""GGUF files, of which only the size is known: those of repositories that are recorded, one checkpoint for each
quantisation, and any other by the bits that files of its type take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.model_row import Model, architectures, quantizations
from moonpad.catalog.toml_rows import Provenance, Row, Span, rows, unique
from moonpad.values.records import replace

BITS: Final = "gguf_bits.toml"
_TYPED: Final = re.compile(
    r"(?:[a-z0-9.-]+_)?(?P<stem>[a-z0-9][a-z0-9.-]*?)(?:[-.]gguf)?[-.:](?P<type>(?:ud-)?(?:i?q[1-8]_\w+|tq1_0)|b?f16)"
)
"""`moonshotai_kimi-k2-thinking-q4_k_m`, `kimi-k2.5-gguf:ud-q3_k_xl`."""
_OF_ANY_FORMAT: Final = frozenset({"bf16", "f16"})
"""Types that weights in other files have as well: with them the name has to say that it is a GGUF."""


class TypeBits(Struct, frozen=True):
    """How many bits a weight takes in whole files of a type, with the tensors that are kept in more of them."""

    bits: Span
    provenance: Provenance


class Weights(Struct, frozen=True):
    count: int
    provenance: Provenance
    plain_types_alone: bool = False
    """Files of the types `UD-` were made by a recipe of their own, of which the rows of the types do not tell."""


@cache
def weights_in_gguf() -> Mapping[str, Weights]:
    """How many weights a GGUF of an architecture holds, by its row of architectures.toml."""
    return {key: row.build(Weights) for key, row in rows(BITS, "weights")}


@cache
def type_bits() -> Mapping[str, TypeBits]:
    """By the name of the type in lower case. Raises ValueError where one comes twice."""
    read = [(key, row.build(TypeBits, bits=row.span("bits"))) for key, row in rows(BITS, "types")]
    unique(BITS, (key.casefold() for key, _ in read))
    return {key.casefold(): value for key, value in read}


def by_type(name: str, find: Callable[[str], Model | None], *, is_file: bool = False) -> Model | None:
    """What the last part of a name means that says a checkpoint and a type, both in lower case; None where that is
    no such name, or the checkpoint is not known by its weights. `is_file`: the name ended with `.gguf`."""
    if (typed := typed_of(name, find, is_file=is_file)) is None:
        return None
    base, kind, known = typed
    weights = weights_in_gguf().get(base.architecture_name)
    if base.refused or not base.formats_known or weights is None or (weights.plain_types_alone and _of_recipe(kind)):
        return None
    quantization = quantizations()["gguf"]
    low, high = (round(weights.count * bits / 8) for bits in known.bits)
    return replace(
        base,
        id=f"{base.id.rpartition('/')[2]}-GGUF:{kind}",
        base=base.id,
        aliases=(),
        quantization=quantization.value,
        total_bytes=(low + high) // 2,
        total_low_bytes=low,
        total_high_bytes=high,
        formats_known=quantization.formats_known,
        standing="estimated",
        source=f"{base.id} by the bits of {kind}: {known.provenance.source}",
        checked=known.provenance.checked,
        notes="",
        shards=None,
        tensors=None,
        quantization_name=quantization.name,
    )


_AT_END: Final = re.compile(
    r"[-._:](?P<recipe>ud[-_])?(?P<type>i?q[1-8]_[a-z0-9_]+)(?:-(?:\d{5}|\*)-of-(?:\d{5}|\*))?(?:\.gguf)?\Z",
    re.IGNORECASE,
)
_OF_A_RECIPE: Final = 0.9
"""Of the bits of a plain type: types of a publisher's own recipe keep some tensors in less."""


def least_bits(written: str) -> float:
    """Of a weight in the type that the name of any file or repository ends in, as little as there is; 0: no such type,
    or one whose bits are not known."""
    match = _AT_END.search(written[-200:])
    if match is None:
        return 0
    kind = match["type"].casefold()
    known = type_bits().get(kind) or type_bits().get(f"{kind.removesuffix('_xl')}_s") or type_bits().get(kind[:-3])
    return known.bits[0] * (_OF_A_RECIPE if match["recipe"] else 1) if known is not None else 0


def _of_recipe(kind: str) -> bool:
    return kind.startswith("UD-")


def typed_of(
    name: str, find: Callable[[str], Model | None], *, is_file: bool = False
) -> tuple[Model, str, TypeBits] | None:
    """The checkpoint whose weights a file of that name holds, their type, and its bits; None for other names."""
    match = _TYPED.fullmatch(name)
    if match is not None and match["type"] in _OF_ANY_FORMAT and not (is_file or "gguf" in name):
        return None
    known = type_bits().get(match["type"]) if match is not None else None
    base = find(match["stem"]) if match is not None and known is not None else None
    if match is None or known is None or base is None or base.architecture is None or base.quantization is None:
        return None
    return base, match["type"].upper(), known


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
