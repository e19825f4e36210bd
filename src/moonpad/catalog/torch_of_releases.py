"""The release of torch that an engine's wheel is built for and asks for: data/torch_of_releases.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "torch_of_releases.toml"


class TorchOfReleases(Struct, frozen=True, kw_only=True):
    """Of one engine."""

    torch: Mapping[str, Text]
    """A release of the engine → the release of torch, where the wheel asks for that one alone."""
    provenance: Provenance


def torch_of(engine: str, version: str) -> str:
    """ "" where it is not recorded."""
    known = _recorded().get(engine)
    return known.torch.get(version, "") if known is not None else ""


@cache
def _recorded() -> Mapping[str, TorchOfReleases]:
    return {key: row.build(TorchOfReleases) for key, row in rows(FILE, "engines")}
