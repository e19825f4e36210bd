"""Whether a start says that its endpoint is far slower than planned: by requests whose times are given here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moonpad.cli import doctor_measure, speed_after_start
from moonpad.cli.speed_after_start import SpeedAfterStart
from moonpad.doctor.slow_facts import LoadFigures
from moonpad.run.planning import PlannedSpec, plan_spec
from moonpad.spec.loader import load_spec
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost
from moonpad.values.estimate import Estimate, Planned
from tests.conftest import ROOT

SPEC = Path("my spec.toml")
EAGER = "INFO 07-01 10:00:00 [cuda.py:1] Cudagraph is disabled under eager mode\n"


@pytest.fixture(scope="module")
def planned() -> PlannedSpec:
    return plan_spec(load_spec(ROOT / "examples" / "tiny.toml"))


def speed(
    planned: PlannedSpec,
    monkeypatch: pytest.MonkeyPatch,
    tpots_ms: list[float | None],
    log: Path,
    because: str = "calibrated here",
) -> SpeedAfterStart | None:
    """Of an endpoint that gives a token after each of these times in turn, where 10 to 20 ms are expected."""
    expected = Planned("median_tpot_ms", Estimate(15.0, 10.0, 20.0, because))
    monkeypatch.setattr(speed_after_start, "planned_predictor", lambda planned: lambda config: (expected,))
    times = iter(tpots_ms)

    def load(*_: Any) -> LoadFigures:
        tpot_ms = next(times)
        if tpot_ms is None:
            raise ContactLost("no answer")
        return LoadFigures(1, 2, 32, 0.1, tpot_ms / 1e3, 50.0, 1.0)

    monkeypatch.setattr(doctor_measure, "short_load", load)
    found = speed_after_start.speed_after_start(planned, Endpoint("http://127.0.0.1:1/v1", "m"), log)
    assert next(times, "none left") == "none left", "asked less often than expected"
    return found


def test_as_fast_as_planned_is_asked_once(
    planned: PlannedSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = speed(planned, monkeypatch, [38.0], tmp_path)
    assert found is not None
    assert not found.far_slower
    assert found.as_json()["tpot_ms"] == pytest.approx(38.0)


def test_only_what_is_slow_twice_is_told(planned: PlannedSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    warm = speed(planned, monkeypatch, [90.0, 18.0], tmp_path)
    assert warm is not None
    assert not warm.far_slower
    slow = speed(planned, monkeypatch, [90.0, 80.0], tmp_path / "no such log")
    assert slow is not None
    assert slow.far_slower
    assert slow.warning(SPEC) == (
        "far slower than planned: a token every 80 ms for one request, expected 10 to 20 ms. Its log names no slower "
        "path: moonpad doctor 'my spec.toml' --endpoint measures why"
    )


def test_the_reason_is_what_the_log_says(planned: PlannedSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text("a first line\n" + EAGER)
    slow = speed(planned, monkeypatch, [90.0, 80.0], log)
    assert slow is not None
    assert [mark.line for mark in slow.marks] == [2]
    assert "(line 2 of its log)" in slow.warning(SPEC)
    assert slow.as_json()["marks"][0]["line"] == 2


def test_nothing_is_said_of_a_processor_by_its_data_sheet(
    planned: PlannedSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert speed(planned, monkeypatch, [], tmp_path, "from the data sheet; of 2 cores") is None


def test_nothing_is_said_where_nothing_was_answered(
    planned: PlannedSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert speed(planned, monkeypatch, [None], tmp_path) is None
