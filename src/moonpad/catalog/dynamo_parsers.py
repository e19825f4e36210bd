"""Names of parsers that Dynamo's workers take, by release: data/dynamo_parsers.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, read_data, rows
from moonpad.values.versions import order

FILE: Final = "dynamo_parsers.toml"


class DynamoParsers(Struct, frozen=True, kw_only=True):
    """Of one option."""

    names: Mapping[str, str]
    """Names → the first release that was run and has it, "" for the oldest of them."""
    provenance: Provenance


@cache
def dynamo_parsers() -> Mapping[str, DynamoParsers]:
    """By their options."""
    return {flag: row.build(DynamoParsers) for flag, row in rows(FILE, "parsers")}


@cache
def releases() -> tuple[str, ...]:
    """Those that were run, in order."""
    return tuple(map(str, read_data(FILE)["releases"]))


def lacks(first: str, release: str) -> bool:
    """Whether `release` is surely without a name that came with `first`: it is not newer than the last release before
    that was run."""
    before = [each for each in releases() if order(each) < order(first or "0")]
    return bool(before) and order(release) <= order(before[-1])
