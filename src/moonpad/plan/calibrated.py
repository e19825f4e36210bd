"""Measured starts in place of the model: the same device, format, engine and settings, or nearly so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.models import find_model
from moonpad.catalog.overhead import version_key
from moonpad.plan.limits import Limits, limits_of
from moonpad.values.checkpoint import Architecture, Checkpoint
from moonpad.values.cluster import Device
from moonpad.values.plan import Layout, Settings
from moonpad.values.units import GIB

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


def find_match(
    calibrations: Sequence[Calibration],
    checkpoint: Checkpoint,
    device: Device,
    engine: str,
    version: str,
    layout: Layout,
    settings: Settings,
    limits: Limits,
) -> Match | None:
    """The exact match that comes last, else the near one with the smallest margin. The context plays no part in it."""
    best: Match | None = None
    for one in calibrations:
        if (
            one.engine != engine
            or one.device != device.id
            or one.scheme != checkpoint.quantization.scheme
            or version_key(one.engine_version)[:2] != version_key(version)[:2]
            or replace(one.layout, dcp=1) != replace(layout, dcp=1)
            or not _same_model(one.model, checkpoint)
        ):
            continue
        found = _match(one, limits_of(checkpoint, device, engine, version, layout, one.settings), limits)
        if found is None or not _same_settings(one.settings, settings):
            continue
        found = found if one.layout.dcp == layout.dcp else _nearer(found, f"dcp {one.layout.dcp}", NEAR_BYTES)
        if best is None or found.margin_bytes <= best.margin_bytes:
            best = found
    return best


def _match(one: Calibration, then: Limits, now: Limits) -> Match | None:
    if (then.max_num_seqs, then.max_num_batched_tokens, then.graphs) != (
        now.max_num_seqs,
        now.max_num_batched_tokens,
        now.graphs,
    ):
        return None
    found = Match(one, True)
    if abs(then.memory_fraction - now.memory_fraction) > 1e-9:
        if now.budget == "free":
            return None
        found = _nearer(found, f"a memory fraction of {then.memory_fraction:g}", NEAR_BYTES)
    if then.kv_fp8 != now.kv_fp8:
        found = _nearer(found, f"a KV cache in {'FP8' if then.kv_fp8 else 'BF16'}", NEAR_KV_DTYPE_BYTES)
    return found


def _nearer(match: Match, what: str, margin_bytes: int) -> Match:
    return Match(match.calibration, False, (*match.differs, what), match.margin_bytes + margin_bytes)


def _same_settings(then: Settings, now: Settings) -> bool:
    """Those that `Limits` does not hold."""
    return (then.attention_backend, then.redundant_experts, then.gpu_experts) == (
        now.attention_backend,
        now.redundant_experts,
        now.gpu_experts,
    )


def _same_model(name: str, checkpoint: Checkpoint) -> bool:
    """A fine-tune of what was measured will do; a model with eyes will not, beside one without."""
    if name == checkpoint.name:
        return True
    model = find_model(name)
    return (
        model is not None
        and model.architecture is not None
        and _sizes(model.architecture) == _sizes(checkpoint.architecture)
    )


def _sizes(architecture: Architecture) -> Architecture:
    return replace(architecture, model_type="", max_context=0, topk_method="", scoring="")
