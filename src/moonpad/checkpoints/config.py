"""What `config.json` says of itself, as far as a launch needs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from moonpad.checkpoints.files import read_bounded
from moonpad.values.errors import CheckpointError

CONFIG: Final = "config.json"
MAX_CONFIG_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Config:
    """`quantization` is the method that the checkpoint names, `fp8` or `compressed-tensors`; None for plain weights."""

    model_type: str
    architectures: tuple[str, ...]
    quantization: str | None


def config_document(folder: Path) -> dict[str, Any]:
    """The whole of config.json. Raises as `read_config` does."""
    return load_object(read_bounded(folder, CONFIG, MAX_CONFIG_BYTES))


def read_config(folder: Path) -> Config:
    """Raises FileNotFoundError where there is none, CheckpointError where it is not what it should be."""
    config = config_document(folder)
    architectures = config.get("architectures")
    if not isinstance(architectures, list) or not all(isinstance(name, str) for name in architectures):
        raise CheckpointError("names no architectures")
    model_type = config.get("model_type")
    if not isinstance(model_type, str):
        raise CheckpointError("names no model_type")
    return Config(model_type, tuple(architectures), _quantization(config))


def _quantization(config: dict[str, Any]) -> str | None:
    """Multimodal checkpoints keep the language model's configuration, and its quantisation, under `text_config`."""
    inner = config.get("text_config")
    for holder in (config, inner if isinstance(inner, dict) else {}):
        said = holder.get("quantization_config")
        if said is None:
            continue
        method = said.get("quant_method") if isinstance(said, dict) else None
        if not isinstance(method, str):
            raise CheckpointError("has a quantization_config without quant_method")
        return method
    return None


def load_object(raw: bytes) -> dict[str, Any]:
    """Raises CheckpointError where the bytes are no JSON object."""
    try:
        loaded = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise CheckpointError(f"is no JSON: {error}") from None
    if not isinstance(loaded, dict):
        raise CheckpointError("is no JSON object")
    return loaded
