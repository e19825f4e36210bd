"""Which of the attacks run today: all of them take hours.

`ATTACKS=all make test-all` runs all; `ATTACKS=2026-11-25` those of that day.
"""

from __future__ import annotations

import os
import zlib

import pytest

SHARE = 20
"""Of the tests marked `drawn`, one in so many runs."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = os.environ["ATTACKS"]  # tests/conftest.py
    if seed == "all":
        return
    left_out = {item for item in items if item.get_closest_marker("drawn") and not chosen(item.nodeid, seed)}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


def chosen(nodeid: str, seed: str) -> bool:
    return zlib.crc32(f"{seed} {nodeid}".encode()) % SHARE == 0
