"""What the runs of `moonpad verify` share: the endpoint, the gate of a spec, the verdict's files, the next command."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EACCES, ENOTDIR
from pathlib import Path

from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.cli.output import next_command, note
from moonpad.run.endpoints import find_run
from moonpad.spec.loader import load_spec
from moonpad.store.atomic_files import require_replaceable
from moonpad.store.result_folders import keep_verdict, verdict_folder
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, UsageError
from moonpad.values.records import field_names
from moonpad.verify.gate import Gate
from moonpad.verify.probes import LONG_PROBES, PROBES


@dataclass(frozen=True, slots=True)
class Target:
    """What is verified: the endpoint of a spec or a URL, with `gate` by the thresholds of the spec's [gate]."""

    spec: Path | None
    at: EndpointOptions
    gate: bool
    json: bool

    @property
    def _endpoint_spec(self) -> Path | None:
        """With --url a spec may be given for its [gate]."""
        return None if self.gate and self.at.url else self.spec

    def endpoint(self) -> Endpoint:
        return resolve_endpoint(self._endpoint_spec, self.at)

    def limits(self) -> Gate | None:
        """The [gate] of the spec, or of the run that is up; None without --gate.

        Raises:
            UsageError: there is no spec, or it names a probe that does not exist.
        """
        if not self.gate:
            return None
        path = self.spec
        if path is None or path.suffix != ".toml":
            if self.at.url:
                raise UsageError("--gate needs a spec", remedy="moonpad verify SPEC.toml --gate")
            path = find_run(self.spec).path / "spec.toml"
        gate = Gate(**load_spec(path).spec.gate.model_dump(include=set(field_names(Gate))))
        gate.check((*PROBES, *LONG_PROBES))
        return gate

    def folder(self, named: Path | None) -> Path:
        """Where the verdict goes: --out, or the run's folder. Creates nothing."""
        return named or verdict_folder(None if self.at.url else find_run(self.spec).path)

    def next_is_bench(self) -> None:
        """Names the next command, for the same endpoint."""
        next_command("moonpad bench" + self.at.words(self._endpoint_spec))


@contextmanager
def writing(path: Path, remedy: str) -> Iterator[None]:
    """
    Raises:
        UsageError: the file or folder that the user named cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}", remedy=remedy) from error


def refuse_unwritable(path: Path, remedy: str) -> None:
    """Before anything is asked, since the answers take minutes.

    Raises:
        UsageError: no file can be written there.
    """
    with writing(path, remedy):
        require_replaceable(path)
        nearest = next(place for place in path.absolute().parents if os.path.lexists(place))
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise PermissionError(EACCES, os.strerror(EACCES), str(nearest))
        if not nearest.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(nearest))


def with_gate(document: Mapping[str, object], broken: tuple[str, ...] | None) -> dict[str, object]:
    """The document, and why the gate is not passed, if there is one."""
    return dict(document) if broken is None else {**document, "gate": list(broken)}


def check_gate(broken: tuple[str, ...] | None) -> None:
    """
    Raises:
        CheckFailed: the gate is not passed.
    """
    if broken:
        raise CheckFailed(f"the gate is not passed: {'; '.join(broken)}")


def keep(folder: Path, files: Mapping[str, str], *, named: bool) -> None:
    """Writes the verdict. If the user did not name the folder, a full disk is only a note.

    Raises:
        UsageError: the folder that the user named cannot be written.
    """
    try:
        keep_verdict(folder, files)
        note(f"written: {folder / next(iter(files))}")
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror or error}"
        if named:
            raise UsageError(message, remedy="--out FOLDER") from error
        note(f"{message}; the verdict is not kept")
