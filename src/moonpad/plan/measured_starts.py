"""Measured starts in place of the model: the same device, format, engine and settings, or nearly so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.models import find_model
from moonpad.plan.effective_settings import Limits, limits_of
from moonpad.values.checkpoint import Architecture, Checkpoint
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.units import GIB
from moonpad.values.versions import series

NEAR_BYTES: Final = GIB // 4
"""How far the overhead may be from a measured one when DCP or the memory fraction differ: assumed, not measured. The
one pair that is known (8×H200, TP8 and TP8 with DCP8) agrees to the last digit of the log."""
NEAR_KV_DTYPE_BYTES: Final = GIB // 2
"""The same where the KV cache has another type, which brings another attention backend."""


class Match(Struct, frozen=True):
    """`exact`: all that moves the overhead is the same. Otherwise it may be off by `margin_bytes` either way."""

    calibration: Calibration
    exact: bool
    differs: tuple[str, ...] = ()
    margin_bytes: int = 0
    other_batch: bool = False
    """Sequences, batched tokens or graphs differ: the model says by how much that moves the overhead."""

    @property
    def distance(self) -> tuple[bool, int]:
        return self.other_batch, self.margin_bytes


def find_match(calibrations: Sequence[Calibration], configuration: Configuration, limits: Limits) -> Match | None:
    """The exact match that comes last, else the near one with the smallest margin. The context plays no part in it."""
    best: Match | None = None
    for calibration in calibrations:
        if not _same_setup(calibration, configuration):
            continue
        then = limits_of(replace(configuration, settings=calibration.settings))
        match = _match(calibration, configuration, then, limits)
        if match is not None and (best is None or match.distance <= best.distance):
            best = match
    return best


def _same_setup(calibration: Calibration, configuration: Configuration) -> bool:
    return (
        calibration.engine == configuration.engine.name
        and calibration.device == configuration.device.id
        and calibration.scheme == configuration.scheme
        and series(calibration.engine_version) == series(configuration.version)
        and _spread(calibration.layout) == _spread(configuration.layout)
        and _same_model(calibration.model, configuration.checkpoint)
    )


def _spread(layout: Layout) -> Layout:
    """What of a layout moves the overhead by an amount that is not known."""
    return replace(layout, dcp=1, ep=1 if layout.dp == 1 else layout.ep)


def _match(calibration: Calibration, configuration: Configuration, then: Limits, now: Limits) -> Match | None:
    if _moving(calibration.settings) != _moving(configuration.settings):
        return None
    differs: dict[str, int] = {}
    batch = [_batch(limits) for limits in (then, now)]
    if batch[0] != batch[1]:
        if now.budget == "free":
            return None
        differs[" and ".join(word for word, other in zip(*batch, strict=True) if word != other)] = NEAR_BYTES
    if abs(then.memory_fraction - now.memory_fraction) > 1e-9:
        if now.budget == "free":
            return None
        differs[f"a memory fraction of {then.memory_fraction:g}"] = NEAR_BYTES
    if then.kv_fp8 != now.kv_fp8:
        differs[f"a KV cache in {'FP8' if then.kv_fp8 else 'BF16'}"] = NEAR_KV_DTYPE_BYTES
    if calibration.layout.dcp != configuration.layout.dcp:
        differs[f"dcp {calibration.layout.dcp}"] = NEAR_BYTES
    if calibration.layout.ep != configuration.layout.ep:
        differs[f"ep {calibration.layout.ep}"] = NEAR_BYTES
    return Match(calibration, not differs, tuple(differs), sum(differs.values()), batch[0] != batch[1])


def _moving(settings: Settings) -> tuple[object, ...]:
    """What moves the overhead, or the weights that it is the rest of, by an amount that is not known."""
    experts = settings.redundant_experts, settings.gpu_experts, settings.host_expert_layers
    draft = settings.draft_tokens > 0, settings.draft
    more = settings.text_only, settings.mm_encoder_tp_mode == "data", settings.max_loras, settings.max_lora_rank
    return settings.attention_backend, *experts, *draft, *more, settings.device_layers, settings.cpu_offload_gib


def _batch(limits: Limits) -> tuple[str, str, str]:
    """What moves it by an amount that the model knows, in words."""
    count = limits.max_num_seqs
    sequences = "" if count is None else f"{count:,} sequence{'' if count == 1 else 's'}"
    return (
        sequences,
        f"{limits.max_num_batched_tokens:,} batched tokens",
        f"{'' if limits.graphs else 'no '}CUDA graphs",
    )


def _same_model(name: str, checkpoint: Checkpoint) -> bool:
    """A fine-tune of what was measured will do; a model with eyes will not, beside one without."""
    if name == checkpoint.name:
        return True
    architecture = model.architecture if (model := find_model(name)) else None
    return architecture is not None and _sizes(architecture) == _sizes(checkpoint.architecture)


def _sizes(architecture: Architecture) -> Architecture:
    return replace(architecture, model_type="", max_context=0, topk_method="", scoring="")
