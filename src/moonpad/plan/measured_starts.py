"""Measured starts in place of the model: the same device, format, engine and settings, or nearly so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.models import find_model
from moonpad.plan.effective_settings import Limits, limits_of
from moonpad.values.checkpoint import Architecture, Checkpoint
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Settings
from moonpad.values.units import GIB
from moonpad.values.versions import series

NEAR_BYTES: Final = GIB // 4
"""How far the overhead may be from a measured one when DCP or the memory fraction differ: assumed, not measured. The
one pair that is known (8×H200, TP8 and TP8 with DCP8) agrees to the last digit of the log."""
NEAR_KV_DTYPE_BYTES: Final = GIB // 2
"""The same where the KV cache has another type, which brings another attention backend."""


@dataclass(frozen=True, slots=True)
class Match:
    """`exact`: all that moves the overhead is the same. Otherwise it may be off by `margin_bytes` either way."""

    calibration: Calibration
    exact: bool
    differs: tuple[str, ...] = ()
    margin_bytes: int = 0


def find_match(calibrations: Sequence[Calibration], configuration: Configuration, limits: Limits) -> Match | None:
    """The exact match that comes last, else the near one with the smallest margin. The context plays no part in it."""
    best: Match | None = None
    for calibration in calibrations:
        if not _same_setup(calibration, configuration):
            continue
        then = limits_of(replace(configuration, settings=calibration.settings))
        match = _match(calibration, configuration, then, limits)
        if match is not None and (best is None or match.margin_bytes <= best.margin_bytes):
            best = match
    return best


def _same_setup(calibration: Calibration, configuration: Configuration) -> bool:
    return (
        calibration.engine == configuration.engine.name
        and calibration.device == configuration.device.id
        and calibration.scheme == configuration.scheme
        and series(calibration.engine_version) == series(configuration.version)
        and replace(calibration.layout, dcp=1) == replace(configuration.layout, dcp=1)
        and _same_model(calibration.model, configuration.checkpoint)
    )


def _match(calibration: Calibration, configuration: Configuration, then: Limits, now: Limits) -> Match | None:
    def moving(limits: Limits, settings: Settings) -> tuple[object, ...]:
        """What moves the overhead by an amount that is not known."""
        batch = limits.max_num_seqs, limits.max_num_batched_tokens, limits.graphs
        experts = settings.redundant_experts, settings.gpu_experts, settings.host_expert_layers
        return *batch, settings.attention_backend, *experts, settings.device_layers

    differs: dict[str, int] = {}
    if moving(then, calibration.settings) != moving(now, configuration.settings):
        return None
    if abs(then.memory_fraction - now.memory_fraction) > 1e-9:
        if now.budget == "free":
            return None
        differs[f"a memory fraction of {then.memory_fraction:g}"] = NEAR_BYTES
    if then.kv_fp8 != now.kv_fp8:
        differs[f"a KV cache in {'FP8' if then.kv_fp8 else 'BF16'}"] = NEAR_KV_DTYPE_BYTES
    if calibration.layout.dcp != configuration.layout.dcp:
        differs[f"dcp {calibration.layout.dcp}"] = NEAR_BYTES
    return Match(calibration, not differs, tuple(differs), sum(differs.values()))


def _same_model(name: str, checkpoint: Checkpoint) -> bool:
    """A fine-tune of what was measured will do; a model with eyes will not, beside one without."""
    if name == checkpoint.name:
        return True
    architecture = model.architecture if (model := find_model(name)) else None
    return architecture is not None and _sizes(architecture) == _sizes(checkpoint.architecture)


def _sizes(architecture: Architecture) -> Architecture:
    return replace(architecture, model_type="", max_context=0, topk_method="", scoring="")
