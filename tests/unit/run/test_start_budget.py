"""Where a start's time went: phases add up, and advice is given only where its figure pays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from moonpad.facts.page_cache import cached_bytes
from moonpad.run.start_budget import EARLY, Source, StartBudget, start_budget

EVENTS = [
    {"event": "spawned", "t_s": 100.0},
    {"event": "phase", "t_s": 110.0, "phase": "loading weights", "percent": 0},
    {"event": "phase", "t_s": 130.0, "phase": "loading weights", "percent": 50},
    {"event": "phase", "t_s": 150.0, "phase": "capturing graphs"},
    {"event": "phase", "t_s": 155.0, "phase": "opening the API"},
    {"event": "healthy", "t_s": 156.0},
    {"event": "ready", "t_s": 158.5},
]


def test_phases_add_up() -> None:
    budget = start_budget(EVENTS)
    assert budget is not None
    assert budget.phases == (
        (EARLY, 10.0),
        ("loading weights", 40.0),
        ("capturing graphs", 5.0),
        ("opening the API", 1.0),
        ("first token", 2.5),
    )
    assert budget.seconds == sum(seconds for _, seconds in budget.phases) == 58.5


def test_of_the_last_generation() -> None:
    again = [{**event, "t_s": float(event["t_s"]) + 1000} for event in EVENTS]  # type: ignore[arg-type]
    cut = [*EVENTS[:3], *again, {"event": "spawned", "t_s": 3000.0}, {"event": "phase", "t_s": 3001.0}]
    assert start_budget(cut) == start_budget(EVENTS)
    assert start_budget(EVENTS[:-1]) is None
    assert start_budget([{"event": "ready", "t_s": 1.0}, {"event": "phase", "t_s": "?"}]) is None


K2 = 594_000_000_000


@pytest.mark.parametrize(
    ("load_s", "source", "words"),
    [
        (900.0, Source(K2, 0, 0.7e9), "a local NVMe disk"),  # 849 s at least: the disk is the limit
        (900.0, Source(K2, 0, 3.0e9), "a loader with several readers"),  # 198 s at least
        (900.0, Source(K2, K2, None), "a loader with several readers"),  # 297 s from the page cache
        (900.0, Source(K2, K2 - K2 // 200, None), "a loader with several readers"),  # nearly all of it in the cache
        (900.0, Source(K2, K2, None, has_loaders=False), ""),  # a processor's engine copies by itself
        (51.3, Source(9_900_000_000, 0, 0.69e9, has_loaders=False), ""),  # 14 s at most are the disk's
        (900.0, Source(K2, 0, 0.7e9, has_loaders=False), "a local NVMe disk"),
        (310.0, Source(K2, K2, None), ""),  # as quick as the page cache
        (205.0, Source(K2, 0, 3.0e9), ""),  # as quick as the disk, and no slower than the cache
        (900.0, Source(K2, None, None), ""),  # nothing is known of where they came from
        (0.1, Source(70_000_000, 0, 0.1e9), ""),  # nothing to be saved
    ],
)
def test_advice_only_where_it_pays(load_s: float, source: Source, words: str) -> None:
    budget = StartBudget(load_s + 60.0, ((EARLY, 60.0), ("loading weights", load_s)), source)
    assert words in budget.advice if words else budget.advice == ""


def test_what_the_page_cache_holds(tmp_path: Path) -> None:
    file = tmp_path / "shard"
    file.write_bytes(os.urandom(24 << 20))
    os.sync()
    assert cached_bytes([file]) == 24 << 20
    with file.open("rb") as shard:
        os.posix_fadvise(shard.fileno(), 0, 12 << 20, os.POSIX_FADV_DONTNEED)
    if cached_bytes([file]) == 24 << 20:
        pytest.skip("this file system is memory itself")
    assert cached_bytes([file]) == 12 << 20
    assert cached_bytes([]) == 0
    assert not isinstance(cached_bytes([tmp_path / "none"]), int)
