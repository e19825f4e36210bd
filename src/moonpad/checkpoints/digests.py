"""What is known of the digest of each file of a checkpoint, from whoever wrote it down.

- A Hugging Face cache names each blob by its digest: https://huggingface.co/docs/huggingface_hub/guides/manage-cache.
- A download into a folder notes commit, digest and time of each file in `.cache/huggingface/download/NAME.metadata`
  (huggingface_hub 2.4.0, `_local_folder.py`, `write_download_metadata`).
- A list as `sha256sum` writes it, in the folder as `SHA256SUMS` or elsewhere.

Large files have a SHA-256 there, the others the SHA-1 of a git blob.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from moonpad.checkpoints.files import read_bounded
from moonpad.checkpoints.revision import MAX_METADATA_BYTES
from moonpad.checkpoints.weights import MAX_FILES
from moonpad.spec.input_file import read_input
from moonpad.spec.safe_text import shorten
from moonpad.values.errors import CheckpointError, UsageError

SUMS: Final = "SHA256SUMS"
NOTES: Final = ".cache/huggingface/download"
MAX_SUMS_BYTES: Final = 4_000_000
READ_BYTES: Final = 4 << 20

_SUM_LINE: Final = re.compile(r"\\?([0-9a-fA-F]{64}) [ *](.+)")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_SHA1: Final = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Digest:
    """`source` says who wrote it down; two digests are equal wherever they come from."""

    hexadecimal: str
    source: str

    @property
    def method(self) -> str:
        return "sha256" if len(self.hexadecimal) == 64 else "git-sha1"


def known_digests(folder: Path, listed: Path | None = None) -> dict[str, Digest]:
    """File → its digest. A list that was given wins over SHA256SUMS, which wins over what a download noted.

    Raises:
        UsageError: the given list cannot be read, or is not one.
        CheckpointError: the folder's SHA256SUMS is not a list of digests.
    """
    known = dict((*_blob_names(folder), *_notes(folder)))
    try:
        known |= read_sums(read_bounded(folder, SUMS, MAX_SUMS_BYTES), SUMS)
    except FileNotFoundError:
        pass
    except ValueError as error:
        raise CheckpointError(f"{SUMS} in {folder} {error}") from None
    except CheckpointError as error:
        raise CheckpointError(f"{SUMS} in {folder} {error.message}") from None
    if listed is not None:
        try:
            known |= read_sums(read_input(listed, MAX_SUMS_BYTES), str(listed))
        except OSError as error:
            raise UsageError(f"--digests {listed} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise UsageError(f"--digests {listed} {error}", remedy="write it with sha256sum") from None
    return known


def read_sums(text: bytes, source: str) -> dict[str, Digest]:
    """What `sha256sum` wrote. Raises ValueError, whose text continues the list's name."""
    known: dict[str, Digest] = {}
    for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _SUM_LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"has no digest and name in line {number}: {shorten(line)!r}")
        name = match[2].removeprefix("./")
        if not is_plain_name(name):
            raise ValueError(f"names a file outside the checkpoint in line {number}: {shorten(name)!r}")
        known[name] = Digest(match[1].lower(), source)
        if len(known) > MAX_FILES:
            raise ValueError(f"has more than {MAX_FILES} files")
    known.pop(SUMS, None)  # `sha256sum * >SHA256SUMS`, the second time
    return known


def is_plain_name(name: str) -> bool:
    """Whether it is the name of a file in a checkpoint folder or below: not absolute, no `..`, nothing unprintable."""
    parts = PurePosixPath(name).parts
    return bool(parts) and name.isprintable() and "\\" not in name and "/" not in parts and ".." not in parts


def digest_of(file: BinaryIO, size_bytes: int, method: str, each: Callable[[int], None]) -> str:
    """Reads the file once, in pieces; `each` gets the bytes of every piece, and may raise to end it. Raises OSError."""
    hasher = hashlib.sha256() if method == "sha256" else hashlib.sha1(usedforsecurity=False)
    if method == "git-sha1":
        hasher.update(b"blob %d\0" % size_bytes)
    buffer = bytearray(READ_BYTES)
    view = memoryview(buffer)
    while count := file.readinto(buffer):  # type: ignore[attr-defined]  # every opened file has it
        hasher.update(view[:count])
        each(count)
    return hasher.hexdigest()


def note_text(commit: str, digest: str, at_s: float) -> str:
    """What huggingface_hub notes of a file that it has downloaded into a folder."""
    return f"{commit}\n{digest}\n{at_s}\n"


def _notes(folder: Path) -> Iterator[tuple[str, Digest]]:
    """A file that was changed after it was noted is not what was downloaded, but that is for the digest to say."""
    notes = folder / NOTES
    for path in _files_below(notes):
        name = path.relative_to(notes).as_posix()
        if not name.endswith(".metadata"):
            continue
        try:
            lines = read_bounded(folder, f"{NOTES}/{name}", MAX_METADATA_BYTES).decode("ascii", "replace").splitlines()
        except (CheckpointError, FileNotFoundError):
            continue
        if len(lines) > 1 and _is_digest(lines[1].strip()):
            yield name.removesuffix(".metadata"), Digest(lines[1].strip(), "its download")


def _blob_names(folder: Path) -> Iterator[tuple[str, Digest]]:
    home = folder.resolve()
    if home.parent.name != "snapshots":
        return
    blobs = home.parent.parent / "blobs"
    for path in _files_below(home):
        if path.is_symlink():
            target = Path(os.path.realpath(path))
            if target.parent == blobs and _is_digest(target.name):
                yield path.relative_to(home).as_posix(), Digest(target.name, "the cache")


def _is_digest(text: str) -> bool:
    return bool(_SHA256.fullmatch(text) or _SHA1.fullmatch(text))


def _files_below(folder: Path) -> Iterator[Path]:
    """At most MAX_FILES; links to folders are not followed."""
    count = 0
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            yield Path(place, name)
            if (count := count + 1) == MAX_FILES:
                return
