"""A tune's folder: what was asked, the journal that a killed tune goes on from, and the lock of the one that writes it.

state/tunes/NAME-DIGEST/  tune.json, journal.jsonl, lock, numerics.json, benches/, result.json, tune.html
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moonpad.run.keeper.locks import read_holder, release_lock, take_lock
from moonpad.store.atomic_files import append_line, read_lines, replace_json
from moonpad.store.paths import state_home
from moonpad.values.errors import PreflightRefused


def tunes_folder() -> Path:
    return state_home() / "tunes"


@dataclass(frozen=True, slots=True)
class TuneFolder:
    path: Path

    @classmethod
    def of(cls, name: str, digest: str) -> TuneFolder:
        return cls(tunes_folder() / f"{name}-{digest[:12]}")

    @property
    def journal_path(self) -> Path:
        return self.path / "journal.jsonl"

    @property
    def numerics_path(self) -> Path:
        return self.path / "numerics.json"

    def events(self) -> list[dict[str, Any]]:
        """Every whole line; one that a kill has torn is left out."""
        return list(read_lines(self.journal_path))

    def append(self, event: str, **fields: object) -> None:
        """Raises PreflightRefused where it cannot be written: what is measured then would be lost."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            append_line(self.journal_path, {"event": event, **fields})
        except OSError as error:
            message = f"{self.journal_path} cannot be written: {error.strerror or error}"
            raise PreflightRefused(message, remedy="free some space; the same command goes on from there") from error

    def begin(self, about: Mapping[str, Any]) -> None:
        replace_json(self.path / "tune.json", dict(about))

    def set_aside(self) -> None:
        """The journal of before is set aside, and stays readable."""
        if self.journal_path.exists():
            count = len(list(self.path.glob("journal.before-*.jsonl")))
            self.journal_path.rename(self.path / f"journal.before-{count + 1}.jsonl")

    def bench_folder(self) -> Path:
        """A new name for the folder of one load's results."""
        benches = self.path / "benches"
        benches.mkdir(parents=True, exist_ok=True, mode=0o700)
        return benches / f"{len(list(benches.iterdir())) + 1:04d}"

    @contextmanager
    def held(self) -> Iterator[None]:
        """
        Raises:
            PreflightRefused: another tune writes this folder now.
        """
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = str(self.path / "lock")
        handle = take_lock(lock, {"pid": os.getpid()})
        if handle is None:
            pid = read_holder(lock).get("pid", "unknown")
            raise PreflightRefused(f"the same is being tuned by pid {pid}", remedy="wait for it, or interrupt it")
        try:
            yield
        finally:
            release_lock(lock, handle)
