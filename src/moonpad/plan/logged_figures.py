"""What an engine's log measured, beside what was planned for the same configuration; and as a measured start."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from moonpad.catalog.calibrations import HALF_DIGIT_GIB, Calibration, kv_bytes_of_log
from moonpad.catalog.toml_rows import Standing
from moonpad.engines.start_log import LoggedStart
from moonpad.plan.effective_settings import default_settings
from moonpad.plan.overhead import GRAPHS
from moonpad.values.configuration import Configuration
from moonpad.values.estimate import Estimate
from moonpad.values.memory import Memory
from moonpad.values.plan import Settings
from moonpad.values.records import as_dict, replace
from moonpad.values.units import GIB

ONLY_MEASURED: Final = ("graphs_estimated_gib", "activation_gib", "non_torch_gib", "free_gib", "blocks", "load_s")
"""Figures of a log that no plan has a part for."""
NEAR: Final = 0.03
"""How far two figures of the KV cache may differ and mean the same: newer releases of vLLM let the first rank alone say
how much it has left, and make do with the least of all ranks; a draft has a layer of its own."""
HALF_BLOCK_TOKENS: Final = 8
"""Half of the smallest block: figures that are whole blocks lie in the middle of the last one."""


class Compared(Struct, frozen=True):
    """One figure of a log, `name` with its unit. `planned` None: no plan has it."""

    name: str
    measured: float
    planned: Estimate | None = None

    @property
    def difference(self) -> float | None:
        """Measured less planned."""
        return None if self.planned is None else self.measured - self.planned.value

    @property
    def within(self) -> bool | None:
        """Whether it lies in the planned range, up to the digits of the log; None where there is no range."""
        if self.planned is None or self.planned.low == self.planned.high:
            return None
        half = HALF_DIGIT_GIB if self.name.endswith("_gib") else 0.0
        return self.planned.low - half <= self.measured <= self.planned.high + half


def compare(start: LoggedStart, configuration: Configuration, memory: Memory | None) -> tuple[Compared, ...]:
    """Line by line, what both have first. `memory` None: nothing can be planned."""
    measured = dict(start.figures)
    if "kv_set_gib" in measured:
        measured.setdefault("kv_gib", measured["kv_set_gib"])
    elif memory is not None:
        if "kv_gib" not in measured and (kv_bytes := logged_kv_bytes(start.figures, configuration, memory)) is not None:
            measured["kv_gib"] = kv_bytes[0] / GIB
        if {"kv_gib", "weights_gib"} <= measured.keys():  # neither of the two
            measured["overhead_gib"] = memory.budget_bytes / GIB - measured["weights_gib"] - measured["kv_gib"]
    planned = dict(_planned(configuration, memory)) if memory is not None else {}
    names = ("weights_gib", "overhead_gib", "graphs_gib", "kv_gib", "kv_tokens", "concurrency", *ONLY_MEASURED)
    return tuple(Compared(name, measured[name], planned.get(name)) for name in names if name in measured)


def _planned(configuration: Configuration, memory: Memory) -> Iterator[tuple[str, Estimate]]:
    dp = configuration.layout.dp
    yield "weights_gib", Estimate.exact(memory.weights_bytes / GIB, "the tensors of the checkpoint")
    yield "overhead_gib", _times(memory.overhead, 1 / GIB)
    yield "kv_gib", _times(memory.kv_bytes, 1 / GIB)
    yield "kv_tokens", memory.kv_tokens
    yield "concurrency", _times(memory.concurrency_at_context, 1 / dp)  # the log is that of one replica
    if GRAPHS in memory.overhead_parts:
        yield "graphs_gib", Estimate.exact(memory.overhead_parts[GRAPHS] / GIB, "a part of the overhead")


def _times(estimate: Estimate, factor: float) -> Estimate:
    return Estimate(estimate.value * factor, estimate.low * factor, estimate.high * factor, estimate.because)


def in_force(configuration: Configuration) -> Settings:
    """The settings, with the engine's own defaults where they say nothing."""
    named = {name: value for name, value in as_dict(configuration.settings).items() if value is not None}
    return replace(default_settings(configuration), **named)


def logged_kv_bytes(
    figures: Mapping[str, float], configuration: Configuration, memory: Memory
) -> tuple[float, float, float] | None:
    """The KV cache of a device, its low and its high end: by its tokens, which all ranks have, else as printed.

    None: the figures of the log do not say it.
    """
    printed, tokens = figures.get("kv_gib"), figures.get("kv_tokens", 0.0)
    per_rank, per_token = tokens / configuration.layout.dcp, memory.kv_bytes_per_token
    by_tokens = (per_rank + HALF_BLOCK_TOKENS) * per_token / GIB
    planned = memory.kv_tokens.value / configuration.layout.dcp * per_token
    linear = planned > 0 and abs(planned / memory.kv_bytes.value - 1) <= NEAR
    agree = abs(by_tokens / printed - 1) <= NEAR if printed else linear
    if tokens > 0 and configuration.layout.pp == 1 and agree:
        return kv_bytes_of_log(by_tokens)
    return None if printed is None else kv_bytes_of_log(printed)


def misfit(figures: Mapping[str, float], memory: Memory) -> str:
    """Why the figures cannot be those of the devices that are meant; "" where they can."""
    device = memory.device_bytes / GIB
    if not device:  # a processor
        return ""
    logged_gib = figures.get("device_gib", device)
    if abs(logged_gib / device - 1) > NEAR:
        has = f"by the log a device has {logged_gib:.2f} GiB, and one of these has {device:.2f}"
        return f"{has}: --on names the right ones"
    cache, weights = figures.get("kv_gib", 0.0), figures.get("weights_gib", memory.weights_bytes / GIB)
    if not -device <= cache <= device - weights:
        held = f"{weights:.2f} GiB of weights and {cache:.2f} of KV cache"
        return f"{held} are not what a device of {device:.2f} GiB can hold"
    return ""


def measured_start(
    configuration: Configuration,
    kv_bytes: tuple[float, float, float],
    kv_tokens: int | None,
    *,
    id: str = "",
    source: str,
    checked: str,
    standing: Standing,
) -> Calibration:
    """A start as later plans use it. Without an `id` its name is made of what it says, so that a log that is read
    twice is one start."""
    value, low, high = kv_bytes
    start = Calibration(
        id=id,
        engine=configuration.engine.name,
        engine_version=configuration.version,
        model=configuration.checkpoint.name,
        scheme=configuration.scheme,
        device=configuration.device.id,
        layout=configuration.layout,
        settings=in_force(configuration),
        kv_bytes=value,
        kv_bytes_low=low,
        kv_bytes_high=high,
        source=source,
        checked=checked,
        standing=standing,
        kv_tokens=kv_tokens,
    )
    if id:
        return start
    content = repr(replace(start, source="", checked=""))
    return replace(start, id=f"log-{hashlib.sha256(content.encode()).hexdigest()[:12]}")
