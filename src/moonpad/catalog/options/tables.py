"""The recorded tables as they stand in `data/`: one file a program, read when it is asked for.

A row that is not of every release has `in`: runs of indexes into `versions`, both ends in. scripts/record_options makes
the files; `vllm-ascend.json` is written by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from moonpad.catalog.options.version import Key, version_key

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
    found: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return found


def nearest(versions: Sequence[str], wanted: str | None, *, approximate: bool = False) -> tuple[int, bool]:
    """Index of the release to answer with, and whether it is the one wanted.

    None is the newest. Otherwise the nearest that is not newer, the oldest where all are newer, and the newest for a
    text that is no version: all three not exact.
    """
    if wanted is None:
        return len(versions) - 1, not approximate
    key = version_key(wanted)
    if key is None:
        return len(versions) - 1, False
    at = max((at for at, known in enumerate(versions) if order(known) <= key), default=0)
    return at, order(versions[at]) == key and not approximate


def order(known: str) -> Key:
    """The key of a version that stands in the data."""
    key = version_key(known)
    if key is None:
        raise ValueError(f"{known} is no version")
    return key


def holds(runs: Iterable[Sequence[int]], at: int) -> bool:
    return any(first <= at <= last for first, last in runs)
