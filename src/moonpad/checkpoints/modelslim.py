"""ModelSlim's quant_model_description*.json: for each tensor how it is quantised, in words like `W4A8_DYNAMIC`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from moonpad.checkpoints.architecture import short
from moonpad.checkpoints.config import load_object
from moonpad.checkpoints.files import read_bounded
from moonpad.checkpoints.formats import modelslim_format
from moonpad.checkpoints.names import MATRICES, place_of
from moonpad.checkpoints.quantization import Quantized, scheme_of
from moonpad.values.checkpoint import Architecture, Component, Quantization
from moonpad.values.errors import CheckpointError

PATTERN: Final = "quant_model_description*.json"
MAX_BYTES: Final = 64_000_000
"""A whole Kimi-K2 has about 200 thousand tensors of about 70 characters each."""


def find_description(folder: Path) -> str | None:
    """The name of the file, the first in order where there are several."""
    names = sorted(path.name for path in folder.glob(PATTERN))
    return names[0] if names else None


def read_description(folder: Path, name: str, architecture: Architecture) -> Quantized:
    """Raises CheckpointError, whose message continues the file's name."""
    return modelslim_quantization(load_object(read_bounded(folder, name, MAX_BYTES)), architecture)


def modelslim_quantization(description: Mapping[str, Any], architecture: Architecture) -> Quantized:
    """What most matrices of each component are, and which components are of several kinds."""
    kinds: dict[Component, Counter[str]] = {}
    for name, kind in description.items():
        if not name.endswith(".weight"):
            continue
        component = place_of(name).component
        if component not in MATRICES:
            continue
        if not isinstance(kind, str):
            raise CheckpointError(f"says {short(kind)} of {short(name)}, which is not a kind of weight")
        kinds.setdefault(component, Counter())[kind] += 1
    if not kinds:
        raise CheckpointError("names no weight of this architecture")
    modes = {component: counts.most_common(1)[0][0] for component, counts in kinds.items()}
    formats = {
        component: tensor_format
        for component, kind in modes.items()
        if (tensor_format := modelslim_format(kind, architecture.hidden)) is not None
    }
    uneven = tuple(component for component, counts in kinds.items() if len(counts) > 1)
    return Quantized(Quantization(scheme_of(formats, int8_activations=True), "ascend", formats), uneven)
