"""Opening files of a checkpoint folder, which is not trusted (fault 55).

A link may leave the folder for one place only: the `blobs` folder beside the `snapshots` folder of a Hugging Face
cache, https://huggingface.co/docs/huggingface_hub/guides/manage-cache.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from moonpad.spec.input_file import open_regular
from moonpad.values.errors import CheckpointError


def is_folder(path: Path) -> bool:
    """False also where the path is too long or may not be looked at."""
    try:
        return path.is_dir()
    except OSError:
        return False


def open_inside(folder: Path, name: str) -> tuple[BinaryIO, int]:
    """The opened regular file `name` of the folder, and its size in bytes.

    Raises:
        FileNotFoundError: there is none.
        CheckpointError: it is elsewhere, is not a regular file, or may not be read.
    """
    try:
        path, home = (folder / name).resolve(strict=True), folder.resolve()
        allowed = (home, home.parent.parent / "blobs") if home.parent.name == "snapshots" else (home,)
        if not any(path.is_relative_to(place) for place in allowed):
            raise CheckpointError(f"is a link out of the checkpoint folder, to {path}")
        file = open_regular(path)
    except FileNotFoundError:
        raise
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle, before Python 3.13
        raise CheckpointError(f"cannot be read: {_reason(error)}") from None
    return file, os.fstat(file.fileno()).st_size


def read_bounded(folder: Path, name: str, most_bytes: int) -> bytes:
    """The whole of a small file. Raises as `open_inside` does, and CheckpointError where it is larger."""
    file, size_bytes = open_inside(folder, name)
    with file:
        if size_bytes > most_bytes:
            raise CheckpointError(f"has {size_bytes} bytes; at most {most_bytes} is plausible")
        try:
            return file.read(most_bytes)
        except OSError as error:
            raise CheckpointError(f"cannot be read: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
