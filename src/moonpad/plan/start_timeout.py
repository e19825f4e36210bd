"""How long a start may take: reading the weights, and what engines do besides."""

from __future__ import annotations

from typing import Final

from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.units import GB, duration

LEAST_S: Final = 900.0
BESIDES_S: Final = 600.0
"""Process groups, compiling, CUDA graphs and warm-up: an allowance, not a measurement."""
MARGIN: Final = 1.5
DISK_GB_PER_S: Final = 1.0
"""Assumed where the spec says nothing."""


def start_budget_s(weights_bytes: int, disk_gb_per_s: float | None, asked_s: float | None) -> float:
    """What was asked for, or the time to read the weights with a margin, and an allowance for all else.

    Each machine reads at most the whole checkpoint.

    Raises:
        PreflightRefused: what was asked for is less than reading alone takes at the speed that the spec states.
    """
    reading_s = weights_bytes / ((disk_gb_per_s or DISK_GB_PER_S) * GB)
    if asked_s is None:
        return max(LEAST_S, BESIDES_S + MARGIN * reading_s)
    if disk_gb_per_s is not None and asked_s < reading_s:
        finding = Finding(
            Severity.ERROR,
            Code.INVALID_VALUE,
            "launch.start_timeout",
            f"{weights_bytes / GB:,.0f} GB at {disk_gb_per_s:g} GB/s take {duration(reading_s)} to read, and a start "
            f"may take {duration(asked_s)}",
            f'set start_timeout = "{BESIDES_S + MARGIN * reading_s:.0f}s", or leave it out',
        )
        raise PreflightRefused("a start would be given up before the weights are read", findings=(finding,))
    return asked_s
