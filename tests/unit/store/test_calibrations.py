"""Measured starts of the user: kept line by line, read back as the planner wants them."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.catalog.calibrations import Calibration, kv_bytes_of_log
from moonpad.store.calibrations import calibrations_path, keep_calibration, own_calibrations
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace

KV_BYTES, LOW, HIGH = kv_bytes_of_log(46.80)
ONE = Calibration(
    id="k2-20261120-120000-ab12",
    engine="vllm",
    engine_version="0.32.0",
    model="Kimi-K2-Thinking",
    scheme="int4",
    device="h200-sxm",
    layout=Layout(tp=8, dcp=8),
    settings=Settings(max_num_seqs=64, gpu_memory_utilization=0.92),
    kv_bytes=KV_BYTES,
    kv_bytes_low=LOW,
    kv_bytes_high=HIGH,
    kv_tokens=5_721_088,
    source="run k2-20261120-120000-ab12",
    checked="2026-11-20",
    standing="verified",
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_what_is_kept_is_read_back() -> None:
    other = replace(ONE, id="k2-20261120-130000-cd34")
    assert own_calibrations() == ()
    assert keep_calibration(ONE, planned_kv_tokens=5_700_000.0)
    assert keep_calibration(other, planned_kv_tokens=None)
    assert own_calibrations() == (ONE, other)
    assert calibrations_path().stat().st_mode & 0o077 == 0


def test_what_is_kept_twice_is_one_start() -> None:
    assert keep_calibration(ONE, None)
    assert not keep_calibration(ONE, None)
    assert own_calibrations() == (ONE,)
    assert calibrations_path().stat().st_mode & 0o077 == 0


def test_two_digits_are_a_range() -> None:
    assert (ONE.kv_bytes_low, ONE.kv_bytes_high) == pytest.approx((46.795 * 2**30, 46.805 * 2**30), rel=1e-12)


def test_torn_and_strange_lines_are_left_out() -> None:
    keep_calibration(ONE, None)
    good = calibrations_path().read_text()
    strange = ('{"schema": 1}', '{"schema": 99, "id": "x"}', good[: len(good) // 2], "[]", '{"schema": 1, "layout": 3}')
    calibrations_path().write_text("\n".join((*strange, good)))
    assert own_calibrations() == (ONE,)
