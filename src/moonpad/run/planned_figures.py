"""The figures that a run's plan expected, and what its engine reported for the same at its start."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from moonpad.store.run_folder import RunFolder
from moonpad.values.estimate import Estimate, Planned


def kv_tokens_measured(folder: RunFolder) -> int | None:
    """The tokens of the KV cache by the engine's log; of several starts, the first."""
    return next((int(event["kv_tokens"]) for event in folder.events() if "kv_tokens" in event), None)


def planned_of(folder: RunFolder) -> tuple[Planned, ...]:
    """Empty where the plan expected nothing, or its file cannot be read."""
    memory = folder.memory()
    figures = []
    if (kv_tokens := _estimate(memory.get("kv_tokens"))) is not None:
        figures.append(Planned("kv_tokens", kv_tokens, kv_tokens_measured(folder)))
    budget_gib = memory.get("budget_gib")
    if isinstance(budget_gib, float | int):
        figures.append(Planned("device_memory_gib", Estimate.exact(float(budget_gib), "what the engine may take")))
    return tuple(figures)


def _estimate(row: object) -> Estimate | None:
    if not isinstance(row, Mapping):
        return None
    ends: dict[str, Any] = {name: row.get(name) for name in ("value", "low", "high")}
    if not all(isinstance(end, float | int) and math.isfinite(end) for end in ends.values()):
        return None
    return Estimate(**ends, because=str(row.get("because", "")))
