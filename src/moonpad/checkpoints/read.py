"""Any local folder of the architecture as a Checkpoint: from the headers of its files, else from its config.json.

The headers win: they are what an engine loads. A fine-tune or a new quantisation therefore needs no catalogue.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from moonpad.checkpoints.architecture import read_architecture
from moonpad.checkpoints.config import CONFIG, config_document, load_object
from moonpad.checkpoints.files import read_bounded
from moonpad.checkpoints.gguf import gguf_bytes
from moonpad.checkpoints.groups import Groups
from moonpad.checkpoints.inspect import FETCH, whole_shards
from moonpad.checkpoints.modelslim import find_description, read_description
from moonpad.checkpoints.quantization import Quantized, read_quantization
from moonpad.checkpoints.revision import name_of
from moonpad.plan.tensors import tensor_groups
from moonpad.values.checkpoint import Architecture, Checkpoint, Quantization, TensorGroup
from moonpad.values.errors import CheckpointError
from moonpad.values.finding import Code, Finding, Severity, errors_of

HF_QUANT_CONFIG: Final = "hf_quant_config.json"
MAX_HF_QUANT_CONFIG_BYTES: Final = 10_000_000


def read_checkpoint(folder: Path) -> Checkpoint:
    """What lies in the folder, by component and layer; no tensor is read.

    Where the weights are elsewhere and only their config.json is here, the groups are calculated from it.

    Raises:
        CheckpointError: there is no checkpoint, it is not whole, or it is of an architecture that is not modelled.
    """
    try:
        there = folder.is_dir()
    except OSError:
        there = False
    if not there:
        missing = Finding(Severity.ERROR, Code.CHECKPOINT_MISSING, str(folder), "there is no such folder")
        raise CheckpointError(f"there is no folder {folder}", remedy="check the path", findings=(missing,))
    architecture, quantized = _configuration(folder)
    name = name_of(folder)
    gguf = _gguf(folder)
    if gguf is not None:
        return Checkpoint(name, architecture, Quantization("gguf", "gguf"), (), f"GGUF files in {folder}", gguf)
    if not any(folder.glob("*.safetensors")):
        return _calculated(folder, name, architecture, quantized)
    groups, files = _from_headers(folder, architecture, quantized.quantization)
    source = f"headers of {files} files in {folder}" if files != 1 else f"header of 1 file in {folder}"
    total = sum(group.size_bytes for group in groups)
    return Checkpoint(name, architecture, quantized.quantization, groups, source, total)


def _configuration(folder: Path) -> tuple[Architecture, Quantized]:
    try:
        config = config_document(folder)
        architecture = read_architecture(config)
        quantized = read_quantization(config, architecture, _hf_quant_config(folder))
    except FileNotFoundError:
        raise CheckpointError(f"{folder} has no {CONFIG}", remedy=FETCH) from None
    except CheckpointError as error:
        raise CheckpointError(f"{CONFIG} in {folder} {error.message}", remedy=error.remedy) from None
    description = find_description(folder)
    if description is None or quantized.quantization.method not in ("", "ascend"):
        return architecture, quantized
    try:
        return architecture, read_description(folder, description, architecture)
    except (CheckpointError, FileNotFoundError) as error:
        said = error.message if isinstance(error, CheckpointError) else "is a link to nothing"
        raise CheckpointError(f"{description} in {folder} {said}") from None


def _hf_quant_config(folder: Path) -> dict[str, Any] | None:
    try:
        return load_object(read_bounded(folder, HF_QUANT_CONFIG, MAX_HF_QUANT_CONFIG_BYTES))
    except FileNotFoundError:
        return None


def _gguf(folder: Path) -> int | None:
    try:
        return gguf_bytes(folder)
    except CheckpointError as error:
        raise CheckpointError(f"{folder} {error.message}", remedy=error.remedy or FETCH) from None


def _calculated(folder: Path, name: str, architecture: Architecture, quantized: Quantized) -> Checkpoint:
    if quantized.uneven:
        mixed = ", ".join(quantized.uneven)
        raise CheckpointError(
            f"{CONFIG} in {folder} quantises {mixed} in some layers or matrices and not in others, so that the bytes "
            "are known from the files alone, and those are not here",
            remedy="put the safetensors files into the folder; their headers are enough",
        )
    groups = tensor_groups(architecture, quantized.quantization)
    source = f"calculated from {CONFIG} in {folder}; the weights are not there"
    total = sum(group.size_bytes for group in groups)
    return Checkpoint(name, architecture, quantized.quantization, groups, source, total)


def _from_headers(
    folder: Path, architecture: Architecture, quantization: Quantization
) -> tuple[tuple[TensorGroup, ...], int]:
    counted = Groups(architecture, quantization)
    findings: list[Finding] = []
    shards = whole_shards(folder, findings, counted.add)
    if errors := errors_of(tuple(findings)):
        raise CheckpointError(f"the checkpoint {folder} is not whole", remedy=FETCH, findings=errors)
    return counted.groups(), len(shards)
