"""The recorded tables as they stand in `data/`: one file a program, read when it is asked for.

A row that is not of every release has `in`: runs of indexes into `versions`, both ends in. scripts/record_options makes
the files; `vllm-ascend.json` is written by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from moonpad.values.versions import NearestRelease, nearest_release

DATA: Final = Path(__file__).parent / "data"
FILES: Final = {
    "vllm serve": "vllm-serve",
    "vllm bench serve": "vllm-bench-serve",
    "vllm-ascend": "vllm-ascend",
    "sglang": "sglang",
    "sglang-kt": "sglang-kt",
    "sglang-router": "sglang-router",
    "kt run": "kt-run",
    "ktransformers-legacy": "ktransformers-legacy",
    "trtllm-serve": "trtllm-serve",
}
NAMES: Final = {
    "vllm serve": "vllm-names",
    "vllm bench serve": "vllm-names",
    "vllm-ascend": "vllm-ascend-names",
    "sglang": "sglang-names",
    "sglang-kt": "sglang-kt-names",
}
PROGRAMS: Final = tuple(FILES)
BUILT_ON: Final = {"vllm-ascend": "vllm serve"}
"""A plugin takes the options of the release of the same number, and adds to them."""


@cache
def read(name: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return table


def nearest(table: Mapping[str, Any], version: str | None) -> NearestRelease:
    """Which recorded release speaks for a version of the table's program; for None the newest."""
    return nearest_release(table["versions"], version)


def holds(runs: Iterable[Sequence[int]], at: int) -> bool:
    return any(first <= at <= last for first, last in runs)
