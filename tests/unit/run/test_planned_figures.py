"""The figures of a run's plan, read from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moonpad.run.planned_figures import kv_tokens_measured, planned_of
from moonpad.store.run_folder import RunFolder
from moonpad.values.estimate import Estimate, Planned

KV_TOKENS = {"value": 100, "low": 90, "high": 120, "because": "whole blocks"}


def folder_of(path: Path, memory: dict[str, Any], *kv_tokens: str) -> RunFolder:
    folder = RunFolder("serve", path)
    folder.write_memory(memory)
    with folder.events_path.open("a") as events:
        events.writelines(f'{{"event": "phase", "kv_tokens": "{value}"}}\n' for value in kv_tokens)
    return folder


def test_beside_the_plan_stands_what_the_engine_said(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"budget_gib": 126.9, "kv_tokens": KV_TOKENS}, "101", "102")
    assert kv_tokens_measured(folder) == 101
    assert planned_of(folder) == (
        Planned("kv_tokens", Estimate(100, 90, 120, "whole blocks"), 101),
        Planned("device_memory_gib", Estimate.exact(126.9, "what the engine may take")),
    )


@pytest.mark.parametrize(
    "memory", [{}, {"unknown": "no checkpoint"}, {"kv_tokens": "many"}, {"kv_tokens": {"value": 1}, "budget_gib": None}]
)
def test_nothing_was_planned(tmp_path: Path, memory: dict[str, Any]) -> None:
    assert planned_of(folder_of(tmp_path, memory)) == ()
