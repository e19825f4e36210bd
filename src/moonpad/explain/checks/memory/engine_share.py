"""The share of a device that an engine may use."""

from __future__ import annotations

from moonpad.catalog.overhead import defaults_of
from moonpad.explain.checks.check_case import Case
from moonpad.values.units import GIB


def share_of(case: Case) -> float:
    """As it is written, else by the default of the release; 1 where that is not a share of the whole device."""
    share = case.first.settings.gpu_memory_utilization
    if share is None and counts_whole_device(case):
        share = defaults_of(case.engine.name, case.version).memory_fraction
    return share or 1.0


def room_words(held: float, fraction: float) -> str:
    """`222 GiB for the engine (0.7 of 317 GiB)`."""
    whole = f"{held / GIB:,.0f} GiB"
    return f"{held * fraction / GIB:,.0f} GiB for the engine ({fraction:g} of {whole})" if fraction < 1 else whole


def counts_whole_device(case: Case) -> bool:
    """Whether the engine takes its share of the whole device, and not of what the weights leave."""
    return defaults_of(case.engine.name, case.version).budget == "device"
