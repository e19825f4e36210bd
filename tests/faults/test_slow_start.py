"""`moonpad up` of an engine that answers far slower than what was calibrated on this machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moonpad.catalog.step_constants import Corrections
from moonpad.engines import ENGINES
from moonpad.facts.probe import Unknown
from moonpad.predict.serving_plan import serving_plan
from moonpad.run.planning import plan_spec
from moonpad.spec.loader import load_spec
from moonpad.store.speed_calibrations import SpeedCalibration, keep_speed_calibration, key_of
from tests.conftest import Moonpad

pytestmark = [pytest.mark.usefixtures("clean_world"), pytest.mark.slow]


def calibrate(spec: Path) -> None:
    """As if the constants of the model of speed had been measured here and found right."""
    planned = plan_spec(load_spec(spec))
    assert planned.choice is not None
    assert not isinstance(planned.checkpoint, Unknown)
    configuration = serving_plan(planned.choice, planned.checkpoint, planned.cluster, ENGINES).configuration
    keep_speed_calibration(SpeedCalibration(*key_of(configuration), Corrections(), "a test", "2026-11-26"))


def test_it_is_told_once_it_is_up(moonpad: Moonpad, fake_spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", moonpad.env["XDG_STATE_HOME"])
    unsure = moonpad("up", str(fake_spec), "--json", FAKE_TOKEN_S="0.05")
    assert moonpad("down", "fake").code == 0
    assert unsure.json["speed"] is None, "what a processor's data sheet says is not sure enough"
    calibrate(fake_spec)
    slow = moonpad("up", str(fake_spec), "--json", FAKE_TOKEN_S="0.1")
    assert moonpad("down", "fake").code == 0
    assert slow.json["speed"]["far_slower"], slow.json
    told = re.search(r"far slower than planned: a token every ([0-9]+)", slow.stderr)
    assert told is not None
    assert int(told[1]) >= 100, "milliseconds, of which a busy machine takes more"
