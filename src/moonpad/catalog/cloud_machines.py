"""Types of machines of clouds, `p5.48xlarge`, and their devices: data/cloud_machines.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, rows

FILE: Final = "cloud_machines.toml"
_WORD: Final = re.compile(
    r"(?<![\w./-])(?:(?P<count>[0-9]{1,3})[ ]?[x×][ ]?)?"
    r"(?P<name>(?:Standard_)?[A-Za-z][\w-]{0,30}(?:\.[\w-]{1,24}){0,3})(?![\w/-])",
    re.ASCII,
)
_MAY_BE: Final = re.compile(r"xlarge|gpu-|gpu_[1248]x_|_v\d|BM\.GPU|gd-[48]x|-standard-|-SXM-[248]-", re.IGNORECASE)


class Cloud(Struct, frozen=True, kw_only=True):
    types: Mapping[str, str]
    provenance: Provenance


@cache
def clouds() -> Mapping[str, Cloud]:
    """By their names."""
    return {key: row.build(Cloud) for key, row in rows(FILE, "clouds")}


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    types = [pair for cloud in clouds().values() for pair in cloud.types.items()]
    return tuple((re.compile(pattern, re.IGNORECASE), cluster) for pattern, cluster in types)


def machine_of_type(name: str) -> str:
    """`8xH100` for `p5.48xlarge`; "" where no cloud has such a type."""
    for pattern, cluster in _patterns():
        if match := pattern.fullmatch(name.removeprefix("ml.")):
            return match.expand(cluster).upper().replace("X", "x", 1)
    return ""


@lru_cache(maxsize=1024)  # each deployment of a text asks for the same lines
def machines_in(text: str) -> tuple[tuple[int, int, str], ...]:
    """Each type that a line names: where it begins and ends, and its machine, `2x8xH100` where two are written."""
    return tuple(_machines_in(text))


def _machines_in(text: str) -> Iterator[tuple[int, int, str]]:
    if not _MAY_BE.search(text):
        return
    for word in _WORD.finditer(text):
        if _MAY_BE.search(word["name"]) and (machine := machine_of_type(word["name"])):
            count = int(word["count"] or 1)
            yield word.start(), word.end(), f"{count}x{machine}" if count > 1 else machine
