"""Where the files of a download go: into a folder of one's own, or into the shared cache of Hugging Face.

In both, huggingface_hub finds them as if it had downloaded them:
https://huggingface.co/docs/huggingface_hub/guides/manage-cache.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from moonpad.checkpoints.digests import NOTES, note_text
from moonpad.checkpoints.hub import RemoteFile


class Places(Protocol):
    """`folder` is what an engine is given, `lock` a file that one download holds."""

    @property
    def folder(self) -> Path: ...

    @property
    def lock(self) -> Path: ...

    def final(self, file: RemoteFile) -> Path: ...

    def part(self, file: RemoteFile) -> Path:
        """Where its first bytes are kept until it is whole; named by its digest, so that they are of this content."""

    def finish(self, file: RemoteFile) -> None:
        """Called once the whole file is in its place. Raises OSError."""


@dataclass(frozen=True, slots=True)
class FolderPlaces:
    folder: Path
    commit: str

    @property
    def lock(self) -> Path:
        return self.folder / ".cache" / "huggingface" / "moonpad.lock"

    def final(self, file: RemoteFile) -> Path:
        return self.folder / file.name

    def part(self, file: RemoteFile) -> Path:
        return self.folder / NOTES / f"{file.name}.{file.digest.hexadecimal}.incomplete"

    def finish(self, file: RemoteFile) -> None:
        note = self.folder / NOTES / f"{file.name}.metadata"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(note_text(self.commit, file.digest.hexadecimal, time.time()), encoding="ascii")


@dataclass(frozen=True, slots=True)
class CachePlaces:
    """`repository` is the folder `models--OWNER--NAME`."""

    repository: Path
    commit: str
    revision: str

    @property
    def folder(self) -> Path:
        return self.repository / "snapshots" / self.commit

    @property
    def lock(self) -> Path:
        return self.repository / ".moonpad.lock"

    def final(self, file: RemoteFile) -> Path:
        return self.repository / "blobs" / file.digest.hexadecimal

    def part(self, file: RemoteFile) -> Path:
        return self.repository / "blobs" / f"{file.digest.hexadecimal}.incomplete"

    def finish(self, file: RemoteFile) -> None:
        link = self.folder / file.name
        target = os.path.relpath(self.final(file), link.parent)
        if not (link.is_symlink() and link.readlink() == Path(target)):
            link.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                link.unlink()
            link.symlink_to(target)
        if self.revision != self.commit:
            self._point(self.repository / "refs" / self.revision)

    def _point(self, reference: Path) -> None:
        """By rename: another program may read it at any moment."""
        with suppress(OSError):
            if reference.read_text(encoding="ascii") == self.commit:
                return
        reference.parent.mkdir(parents=True, exist_ok=True)
        part = reference.with_name(f".{reference.name}.{threading.get_native_id()}")
        part.write_text(self.commit, encoding="ascii")
        part.replace(reference)


def cache_folder(cache: Path, repository: str) -> Path:
    return cache / f"models--{repository.replace('/', '--')}"


def cached_snapshot(repository: Path, revision: str) -> Path | None:
    """What the cache holds of a revision, complete or not, without asking the hub; None where it holds nothing."""
    commit = revision
    with suppress(OSError):
        commit = (repository / "refs" / revision).read_text(encoding="ascii").strip()
    folder = repository / "snapshots" / commit
    return folder if folder.is_dir() else None
