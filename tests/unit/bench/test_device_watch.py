"""What devices did: by rows of nvidia-smi as it prints them, and by a watch whose clock and tool are the test's."""

from __future__ import annotations

import asyncio
import os
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.bench.result import as_json
from moonpad.bench.telemetry import DeviceStats, watch_devices
from moonpad.facts.device import DeviceUse
from moonpad.facts.devices import device_use
from moonpad.facts.nvidia import parse_use
from moonpad.facts.probe import Unknown
from moonpad.values.endpoint import Endpoint
from moonpad.values.records import replace
from tests.unit.bench.test_result import GOOD, notes_of

HERE = Endpoint("http://127.0.0.1:8000/v1", "m")
ROWS = "0, 412.53, 97, 75123\n1, [N/A], [Unknown Error], 100\nUnable to determine the device handle for GPU2\n"


def test_rows_of_the_tool() -> None:
    assert parse_use(ROWS) == (
        DeviceUse(0, 412.53, 0.97, 75123 * 2**20),
        DeviceUse(1, None, None, 100 * 2**20),
    )


@given(st.text(st.sampled_from("0123456789.,-[]NA/einf \n"), max_size=60))
def test_whatever_it_prints_is_a_number_or_not_said(text: str) -> None:
    for use in parse_use(text):
        assert all(value is None or 0 <= value < float("inf") for value in (use.power_w, use.busy, use.used_bytes))


def test_the_tool_is_a_process_with_a_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\nprintf '{ROWS}'\n".replace("\n1,", "\\n1,").replace("\nUn", "\\nUn"))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    uses = device_use(5.0)
    assert isinstance(uses, tuple)
    assert [use.index for use in uses] == [0, 1]
    tool.write_text("#!/bin/sh\nexec sleep 60\n")
    hung = device_use(0.2)
    assert isinstance(hung, Unknown)
    tool.write_text("#!/bin/sh\necho NVIDIA-SMI has failed >&2\nexit 9\n")
    assert isinstance(device_use(5.0), Unknown)


KEPT: list[dict[str, Any]] = []


def watched(endpoint: Endpoint, answers: list[tuple[DeviceUse, ...] | Unknown]) -> tuple[DeviceStats, int]:
    requested = 0

    def ask(limit_s: float) -> tuple[DeviceUse, ...] | Unknown:
        nonlocal requested
        requested += 1
        return answers[min(requested, len(answers)) - 1]

    async def main() -> DeviceStats:
        ticks = count()

        async def zero() -> float:
            return 0.0

        clock = lambda: float(next(ticks))  # noqa: E731
        async with watch_devices(endpoint, clock, zero, KEPT.append, ask=ask, every_s=0.0) as stats:
            while len(stats.samples) < 4 and not stats.why_not:
                await asyncio.sleep(0.001)
        return stats

    return asyncio.run(main()), requested


def test_power_is_of_all_and_use_the_mean() -> None:
    first, second = DeviceUse(0, 300.0, 0.5, 10), DeviceUse(1, 500.0, 1.0, 30)
    KEPT.clear()
    stats, _ = watched(HERE, [(first, second), (replace(first, power_w=None), second)])
    output = DeviceStats(stats.samples[:2]).as_json()
    assert output == {
        "samples": 2,
        "count": 2,
        "power_w": {"mean": 650.0, "max": 800.0},
        "busy": {"mean": 0.75, "max": 0.75},
        "most_used_bytes": 30,
        "throttled": None,
    }
    assert [row["at_s"] for row in KEPT] == [at_s for at_s, _ in stats.samples]
    assert KEPT[0]["devices"][1]["power_w"] == 500.0


def test_a_tool_that_fails_is_asked_once_and_another_machine_not_at_all() -> None:
    stats, requested = watched(HERE, [Unknown("there is no nvidia-smi here")])
    assert (requested, stats.as_json()) == (1, {"samples": 0, "why_not": "there is no nvidia-smi here"})
    stats, requested = watched(Endpoint("http://gpu.example:8000/v1", "m"), [()])
    assert (requested, stats.why_not) == (0, "the endpoint is on another machine")


def test_it_is_in_the_result_and_in_the_notes() -> None:
    stats = DeviceStats([(0.0, (DeviceUse(0, 300.0, 0.5, 10),))])
    result = replace(GOOD, devices=stats)
    assert as_json(result)["moonpad"]["devices"]["power_w"]["mean"] == 300.0
    assert any("devices 1; total power 300 W" in note and "busy 50.0% of the time" in note for note in notes_of(result))
    assert not any("device" in note for note in notes_of(GOOD))


def test_what_held_the_clocks_back_is_in_the_notes() -> None:
    cap, heat = ("its power limit",), ("its power limit", "software thermal slowdown")
    rows = [(cap, ()), (heat, cap), ((), ()), ((), None)]
    uses = [tuple(DeviceUse(n, 300.0, 1.0, 10, 70.0, each) for n, each in enumerate(row)) for row in rows]
    result = replace(GOOD, devices=DeviceStats(list(enumerate(uses))))
    throttled = as_json(result)["moonpad"]["devices"]["throttled"]
    assert throttled == {"its power limit": 0.5, "software thermal slowdown": 0.25}
    notes = notes_of(result)
    assert any("clocks held back by its power limit 50% of the time" in note for note in notes)
    assert any("clocks held back by software thermal slowdown 25% of the time" in note for note in notes)
