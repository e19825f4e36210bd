"""Which weights a method behind `--quantization` reads, and how names tell what weights are:
data/quantization_flags.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "quantization_flags.toml"
_LONGEST: Final = 400


class QuantizationFlag(Struct, frozen=True, kw_only=True):
    """`engines` from release `since` on and before release `until`: weights with another method than `reads`, or than
    the one that is asked for, end the start."""

    engines: tuple[str, ...]
    methods: tuple[str, ...]
    since: str = ""
    until: str = ""
    reads: tuple[str, ...]
    """`quant_method` of config.json, beside the method itself."""
    file: str = ""
    """What has to lie beside weights whose config.json has no method; "" where plain weights are converted."""
    provenance: Provenance


class NamedFormat(Struct, frozen=True, kw_only=True):
    """A word in the name of a repository: the methods that weights of such names have in config.json."""

    word: Text
    """A regular expression for one word of the name."""
    methods: tuple[str, ...]
    provenance: Provenance


@cache
def quantization_flags() -> Mapping[str, QuantizationFlag]:
    """By their keys."""
    return {key: row.build(QuantizationFlag) for key, row in rows(FILE, "flags")}


@cache
def named_formats() -> Mapping[str, NamedFormat]:
    """By their keys."""
    return {key: row.build(NamedFormat) for key, row in rows(FILE, "names")}


def methods_of_name(written: str) -> frozenset[str]:
    """The methods, one of which weights of that name have; empty where the name tells none, or several formats."""
    last = written.rstrip("/")[-_LONGEST:].rpartition("/")[2].casefold().replace("_", "-")
    found = [row for row in named_formats().values() if re.search(rf"(?<![a-z0-9])(?:{row.word})(?![a-z0-9])", last)]
    return frozenset(found[0].methods) if len(found) == 1 else frozenset()
