from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def the_client_is_not_measured(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """It takes two seconds and a process, and has tests of its own: tests/unit/load/test_client_error.py."""

    async def nothing(streams: int, gap_s: float) -> None:
        return None

    monkeypatch.setattr("moonpad.bench.run.measure_client_error", nothing)
