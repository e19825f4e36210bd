"""Any local folder of the architecture as a Checkpoint: from the headers of its files, else from its config.json.

The headers win: they are what an engine loads. A fine-tune or a new quantisation therefore needs no catalogue.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from moonpad.checkpoints.architecture import read_architecture
from moonpad.checkpoints.config import CONFIG, config_document, load_object
from moonpad.checkpoints.files import is_folder, read_bounded
from moonpad.checkpoints.gguf import gguf_architecture, gguf_checkpoint, read_gguf
from moonpad.checkpoints.groups import Groups
from moonpad.checkpoints.quantization import Quantized, find_description, read_description, read_quantization
from moonpad.checkpoints.revision import name_of
from moonpad.checkpoints.weights import FETCH, Shard, intact_shards
from moonpad.plan.tensors import checkpoint_of, tensor_groups
from moonpad.values.checkpoint import Architecture, Checkpoint
from moonpad.values.errors import CheckpointError
from moonpad.values.finding import Code, Finding, Severity

HF_QUANT_CONFIG: Final = "hf_quant_config.json"
MAX_HF_QUANT_CONFIG_BYTES: Final = 10_000_000


def read_checkpoint(folder: Path) -> Checkpoint:
    """What lies in the folder, by component and layer; no tensor is read.

    Where the weights are elsewhere and only their config.json is here, the groups are calculated from it.

    Raises:
        CheckpointError: there is no checkpoint, it is incomplete, or it is of an architecture that is not modelled.
    """
    if not is_folder(folder):
        missing = Finding(Severity.ERROR, Code.CHECKPOINT_MISSING, str(folder), "this folder does not exist")
        raise CheckpointError(f"there is no folder {folder}", remedy="check the path", findings=(missing,))

    return read_contents(folder, [], [])


def read_contents(folder: Path, shards: list[Shard], broken: list[Finding]) -> Checkpoint:
    """As `read_checkpoint`. Adds the intact shards, and the problems of the others, to the lists."""
    name = name_of(folder)
    if (gguf := _gguf(folder)) is not None:
        return gguf
    architecture, quantized = _configuration(folder)
    if not any(folder.glob("*.safetensors")):
        return _calculated(folder, name, architecture, quantized)
    counted = Groups(architecture, quantized.quantization)
    shards += intact_shards(folder, broken, counted.add)
    if broken:
        message = f"the checkpoint {folder} is incomplete or damaged"
        raise CheckpointError(message, remedy=FETCH, findings=tuple(broken))
    files = f"headers of {len(shards)} files" if len(shards) != 1 else "header of 1 file"
    source = f"{files} in {folder}"
    return checkpoint_of(name, architecture, quantized.quantization, counted.groups(), source)


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
        problem = error.message if isinstance(error, CheckpointError) else "is a dangling link"
        raise CheckpointError(f"{description} in {folder} {problem}") from None


def _hf_quant_config(folder: Path) -> dict[str, Any] | None:
    try:
        return load_object(read_bounded(folder, HF_QUANT_CONFIG, MAX_HF_QUANT_CONFIG_BYTES))
    except FileNotFoundError:
        return None


def _gguf(folder: Path) -> Checkpoint | None:
    """With the sizes of config.json where there is one, else with those of the metadata."""
    try:
        files = read_gguf(folder)
        if files is None:
            return None
        has_config = (folder / CONFIG).exists()
        architecture = _configuration(folder)[0] if has_config else gguf_architecture(files)
        return gguf_checkpoint(folder, name_of(folder), files, architecture)
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
    source = f"calculated from {CONFIG} in {folder}; the weights are not there"
    groups = tensor_groups(architecture, quantized.quantization)
    return checkpoint_of(name, architecture, quantized.quantization, groups, source)
