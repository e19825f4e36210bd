"""Is the checkpoint complete? Asked before every start: configuration, tokenizer, index, and the header of every shard.

Finds a half-downloaded checkpoint (fault 20), a damaged header (the part of fault 21 that needs no digest) and a
hostile one (fault 22). Only its digest finds a byte that flipped inside a tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from moonpad.checkpoints.config import CONFIG, check_config
from moonpad.checkpoints.files import is_folder, open_inside
from moonpad.checkpoints.presence import partial_files
from moonpad.checkpoints.read import read_contents
from moonpad.checkpoints.weights import FETCH, MAX_NAMED, Shard, incomplete, intact_shards
from moonpad.facts.probe import Unknown
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.errors import CheckpointError
from moonpad.values.finding import Code, Finding, Severity, errors_of

TOKENIZERS: Final = ("tokenizer.json", "tiktoken.model", "tokenizer.model")


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """What stands in the folder. `weights_bytes` is what the tensors of the intact shards take, exactly.

    `contents` come from the same headers; Unknown where they are damaged or of an architecture that is not modelled.
    """

    folder: Path
    contents: Checkpoint | Unknown
    shards: tuple[Shard, ...]
    findings: tuple[Finding, ...]

    @property
    def weights_bytes(self) -> int:
        return sum(shard.data_bytes for shard in self.shards)


def inspect(folder: Path) -> CheckpointFiles:
    """Reads each header once. Never raises, whatever stands in the folder: its problems are the findings."""
    if not is_folder(folder):
        message, remedy = "this folder does not exist", "set `model` in the spec to the checkpoint's folder"
        missing = Finding(Severity.ERROR, Code.CHECKPOINT_MISSING, str(folder), message, remedy)
        return CheckpointFiles(folder, Unknown(f"there is no folder {folder}"), (), (missing,))
    shards: list[Shard] = []
    broken: list[Finding] = []
    contents: Checkpoint | Unknown
    try:
        contents = read_contents(folder, shards, broken)
    except CheckpointError as error:
        contents = Unknown(error.message)
    if isinstance(contents, Checkpoint) and contents.quantization.scheme == "gguf":
        return CheckpointFiles(folder, contents, (), tuple(_leftovers(folder)))
    if not shards and not broken:  # no header was read
        shards += intact_shards(folder, broken)
    findings = (*_config(folder), *_tokenizer(folder), *broken, *_leftovers(folder))
    return CheckpointFiles(folder, contents, tuple(shards), findings)


def require_complete(files: CheckpointFiles) -> None:
    """Raises CheckpointError where the folder is missing, incomplete or damaged."""
    errors = errors_of(files.findings)
    if errors and errors[0].code is Code.CHECKPOINT_MISSING:
        raise CheckpointError(f"the checkpoint folder {files.folder} does not exist", remedy=errors[0].remedy)
    if errors:
        raise CheckpointError(f"the checkpoint {files.folder} is incomplete or damaged", findings=errors)


def _config(folder: Path) -> Iterator[Finding]:
    try:
        check_config(folder)
    except FileNotFoundError:
        yield incomplete(CONFIG, "is missing")
    except CheckpointError as error:
        yield incomplete(CONFIG, error.message)


def _tokenizer(folder: Path) -> Iterator[Finding]:
    for name in TOKENIZERS:
        try:
            open_inside(folder, name)[0].close()
        except FileNotFoundError:
            continue
        except CheckpointError as error:
            yield incomplete(name, error.message)
        return
    yield incomplete(TOKENIZERS[0], f"is missing, as are {' and '.join(TOKENIZERS[1:])}")


def _leftovers(folder: Path) -> Iterator[Finding]:
    """What an unfinished download has left. In the blobs of a shared cache it may belong to another revision."""
    for partial in islice(partial_files(folder), MAX_NAMED):
        if partial.name.startswith("blobs/"):
            message = "is left from an unfinished download of this revision or another"
            yield Finding(Severity.WARNING, Code.CHECKPOINT_INCOMPLETE, partial.name, message, FETCH)
        else:
            yield incomplete(partial.name, "is left from an unfinished download")
