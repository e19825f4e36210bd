"""`config.json`, as far as every launch needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from moonpad.checkpoints.files import read_bounded
from moonpad.spec.json_input import load_json
from moonpad.values.errors import CheckpointError

CONFIG: Final = "config.json"
MAX_CONFIG_BYTES: Final = 1_000_000


def config_document(folder: Path) -> dict[str, Any]:
    """The whole of config.json. Raises as `read_bounded` does, and CheckpointError where it is not a JSON object."""
    return load_object(read_bounded(folder, CONFIG, MAX_CONFIG_BYTES))


def check_config(folder: Path) -> None:
    """Raises FileNotFoundError where there is none, CheckpointError where it lacks what every engine needs.

    Multimodal checkpoints keep the language model's configuration, and its quantisation, under `text_config`.
    """
    config = config_document(folder)
    architectures = config.get("architectures")
    if not isinstance(architectures, list) or not all(isinstance(name, str) for name in architectures):
        raise CheckpointError("has no architectures")
    if not isinstance(config.get("model_type"), str):
        raise CheckpointError("has no model_type")
    text_config = config.get("text_config")
    for table in (config, text_config if isinstance(text_config, dict) else {}):
        quantization = table.get("quantization_config")
        if quantization is None:
            continue
        if not isinstance(quantization, dict) or not isinstance(quantization.get("quant_method"), str):
            raise CheckpointError("has a quantization_config without quant_method")
        return


def load_object(raw: bytes) -> dict[str, Any]:
    """Raises CheckpointError where the bytes are not a JSON object."""
    try:
        loaded = load_json(raw)
    except ValueError as error:
        raise CheckpointError(f"is not JSON: {error}") from None
    if not isinstance(loaded, dict):
        raise CheckpointError("is not a JSON object")
    return loaded
