"""The recorded tables as they stand in `data/`: one file a program, read when it is asked for.

`programs.json` names the files of each program. A row that is not of every release has `in`: runs of indexes into
`versions`, both ends in. scripts/record_options makes the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from moonpad.values.versions import NearestRelease, nearest_release

DATA: Final = Path(__file__).parent / "data"


class ProgramFiles(Struct, frozen=True):
    """The names of a program's files. A plugin is `built_on` another program: it takes the options of the release of
    the same number, and adds to them."""

    options: str
    names: str = ""
    built_on: str = ""


@cache
def programs() -> Mapping[str, ProgramFiles]:
    """Every program whose options are recorded."""
    return msgspec.json.decode((DATA / "programs.json").read_bytes(), type=dict[str, ProgramFiles])


@cache
def read(name: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return table


def nearest(table: Mapping[str, Any], version: str | None) -> NearestRelease:
    """Which recorded release speaks for a version of the table's program; for None the newest."""
    return _nearest(tuple(table["versions"]), version)


@lru_cache(maxsize=1024)  # each option of a command asks, and a release is slow to compare with all others
def _nearest(releases: tuple[str, ...], version: str | None) -> NearestRelease:
    return nearest_release(releases, version)


def holds(runs: Iterable[Sequence[int]], at: int) -> bool:
    return any(first <= at <= last for first, last in runs)
