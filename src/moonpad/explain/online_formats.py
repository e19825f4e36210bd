"""Weights that the engine itself makes smaller while it loads them: `--quantization fp8` of a checkpoint in BF16.

Matrices of linear layers and of experts become FP8 with a scale each; embedding, lm_head, norms, router and vision stay
(vLLM: model_executor/layers/quantization/fp8.py, Fp8OnlineLinearMethod and Fp8OnlineMoEMethod).
"""

from __future__ import annotations

from typing import Final

from moonpad.catalog.model_row import Model
from moonpad.engines.base import Reading
from moonpad.engines.program_words import FP8_WHILE_LOADING
from moonpad.plan.tensors import catalog_checkpoint, checkpoint_of, tensor_groups
from moonpad.values.checkpoint import Checkpoint, Component, TensorFormat
from moonpad.values.records import replace

_FP8: Final = TensorFormat("fp8", 8, extra_bytes=4)
_ASKED: Final = frozenset({"fp8", "fp8_per_tensor"})
_MATRICES: Final = (
    *(Component.ROUTED_EXPERTS, Component.SHARED_EXPERTS, Component.DENSE_MLP, Component.Q_A, Component.Q_B),
    *(Component.KV_A, Component.KV_B, Component.O_PROJ, Component.KDA, Component.KDA_LATENT, Component.OUTPUT_GATE),
)


def checkpoint_as_loaded(model: Model, reading: Reading, engine: str) -> Checkpoint:
    """As `catalog_checkpoint`, with the bytes that its weights have on the devices, and of a GGUF file without the
    publisher where the command names none: others have files of that name too."""
    return _as_loaded(_without_publisher(catalog_checkpoint(model), model, reading), reading, engine)


def _without_publisher(checkpoint: Checkpoint, model: Model, reading: Reading) -> Checkpoint:
    owner, _, file = model.id.partition("/")
    by_itself = next((alias for alias in model.aliases if "/" not in alias), "")
    if ":" not in file or not by_itself or owner.casefold() in reading.model.casefold():
        return checkpoint
    return replace(checkpoint, name=by_itself)


def _as_loaded(checkpoint: Checkpoint, reading: Reading, engine: str) -> Checkpoint:
    place = reading.parsed.occurrence("--quantization")
    asked = place is not None and isinstance(place.value, str) and place.value in _ASKED and engine in FP8_WHILE_LOADING
    if not asked or not checkpoint.groups or checkpoint.quantization.method or checkpoint.quantization.formats:
        return checkpoint
    online = replace(checkpoint.quantization, formats=dict.fromkeys(_MATRICES, _FP8))
    whole = tensor_groups(checkpoint.architecture, checkpoint.quantization)
    groups = tensor_groups(checkpoint.architecture, online)
    kept = {(group.component, group.layer) for group in checkpoint.groups}
    if len(whole) != len(checkpoint.groups) or kept != {(group.component, group.layer) for group in groups}:
        return checkpoint  # files of another kind, which only their headers describe
    return checkpoint_of(checkpoint.name, checkpoint.architecture, checkpoint.quantization, groups, checkpoint.source)
