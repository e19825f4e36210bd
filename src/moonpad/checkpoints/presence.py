"""How much of a checkpoint's weights is there, at any moment of a download, whichever program downloads.

A size of the folder (`du -sh`) says neither what is missing nor that what is there is whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.checkpoints.files import open_inside
from moonpad.checkpoints.revision import name_of
from moonpad.checkpoints.weights import MAX_FILES, expected_shards, read_index
from moonpad.values.errors import CheckpointError

# huggingface_hub; wget2, Firefox and many others; Chromium; Git LFS.
PARTIAL_SUFFIXES: Final = (".incomplete", ".part", ".partial", ".crdownload")
MODELSCOPE_TEMPORARY: Final = "._____temp"
"""Where ModelScope keeps what it is downloading (modelscope, `hub/constants.py`, TEMPORARY_FOLDER_NAME)."""
ARIA2_CONTROL: Final = ".aria2"
"""Stands beside a file, under its final name and of its final size, as long as aria2 is downloading it."""
WEIGHTS: Final = (".safetensors", ".gguf")
BLOCK_BYTES: Final = 512


@dataclass(frozen=True, slots=True)
class PartialFile:
    name: str
    present_bytes: int


@dataclass(frozen=True, slots=True)
class Presence:
    """`expected_bytes` is what all tensors take, None where neither the index nor the catalogue says it.

    `present_bytes` is without the headers of safetensors files, so that both are of the same things.
    """

    present_bytes: int
    expected_bytes: int | None
    expected_from: str
    present_files: int
    expected_files: int | None
    partial: tuple[PartialFile, ...]

    @property
    def share(self) -> float | None:
        return None if not self.expected_bytes else min(1.0, self.present_bytes / self.expected_bytes)


def presence(folder: Path) -> Presence:
    """Looks at names, sizes and the lengths of headers; reads no tensor. Never raises."""
    partial = tuple(partial_files(folder))
    unfinished = {file.name for file in partial}
    index = None
    with suppress(CheckpointError):
        index = read_index(folder)
    names = sorted(path.name for path in folder.glob("*") if path.suffix in WEIGHTS and path.name not in unfinished)
    whole = [size for name in names[:MAX_FILES] if (size := _data_bytes(folder, name)) is not None]
    expected_bytes, source = (index.total_bytes, "the index") if index else (None, "")
    expected_files: int | None = len(index.tensors) if index else None
    model = find_model(str(folder.resolve())) or find_model(name_of(folder))
    if expected_bytes is None and model is not None and model.total_bytes:
        expected_bytes, source = model.total_bytes, "the catalogue"
    if expected_files is None and model is not None:
        expected_files = model.shards
    if expected_files is None and any(name.endswith(".safetensors") for name in names):
        expected_files = len(expected_shards(folder))
    present_bytes = sum(whole) + sum(file.present_bytes for file in partial)
    return Presence(present_bytes, expected_bytes, source, len(whole), expected_files, partial)


def partial_files(folder: Path) -> Iterator[PartialFile]:
    """What downloads have begun: in the folder, and where Hugging Face's and ModelScope's programs keep it.

    The blobs of a shared cache may belong to another revision. Space that is only reserved does not count.
    """
    home = folder.resolve()
    for path in _candidates(home):
        with suppress(OSError):
            status = path.stat()
            name = path.relative_to(home).as_posix() if path.is_relative_to(home) else f"blobs/{path.name}"
            yield PartialFile(name, min(status.st_size, status.st_blocks * BLOCK_BYTES))


def _candidates(home: Path) -> Iterator[Path]:
    count = 0
    for path in (*_regular(home), *_regular(home / ".cache" / "huggingface" / "download", deep=True)):
        controlled = path.with_name(path.name + ARIA2_CONTROL).exists()
        if path.suffix in PARTIAL_SUFFIXES or controlled:
            yield path
        if (count := count + 1) > MAX_FILES:
            return
    for place in (home / MODELSCOPE_TEMPORARY, home.parent / MODELSCOPE_TEMPORARY / home.name):
        yield from _regular(place, deep=True)
    if home.parent.name == "snapshots":
        blobs = _regular(home.parent.parent / "blobs")
        yield from (path for path in blobs if path.suffix in PARTIAL_SUFFIXES)


def _regular(folder: Path, *, deep: bool = False) -> Iterator[Path]:
    with suppress(OSError):
        for path in sorted(folder.rglob("*") if deep else folder.glob("*")):
            if path.is_file() and not path.is_symlink():
                yield path


def _data_bytes(folder: Path, name: str) -> int | None:
    """What stands behind the header; None where the file is not there. A file without a sound header counts whole."""
    try:
        file, size_bytes = open_inside(folder, name)
    except (CheckpointError, FileNotFoundError):
        return None
    with file:
        if not name.endswith(".safetensors"):
            return size_bytes
        with suppress(OSError):
            header_bytes = 8 + int.from_bytes(file.read(8), "little")
            return size_bytes - header_bytes if header_bytes <= size_bytes else size_bytes
    return size_bytes
