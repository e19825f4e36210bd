"""Cores of processors by the number in their names: data/processors.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

_APART: Final = re.compile(r"[ -]")


class ProcessorRow(Struct, frozen=True):
    """Processors with as many physical cores each, of which a machine has at most so many."""

    maker: Literal["intel", "amd"]
    cores: int
    most: int
    names: tuple[Text, ...]
    provenance: Provenance


def processor_named(maker: str, name: str) -> ProcessorRow | None:
    """`E5-2630 v4`, `e5 2630v4`, `8480+`: None where it is not recorded."""
    return _by_name().get((maker, _APART.sub("", name).casefold()))


@cache
def _by_name() -> Mapping[tuple[str, str], ProcessorRow]:
    recorded = [row.build(ProcessorRow) for _, row in rows("processors.toml", "processors")]
    return MappingProxyType(
        {(row.maker, _APART.sub("", name).casefold()): row for row in recorded for name in row.names}
    )
