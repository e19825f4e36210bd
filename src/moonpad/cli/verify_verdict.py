"""What the runs of `moonpad verify` share: the gate of a spec, the verdict's files, the next command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.cli.output import next_command, note
from moonpad.store.result_folders import keep_verdict, verdict_folder
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from moonpad.verify.gate import Gate


def endpoint_of(spec: Path | None, at: EndpointOptions, *, gate: bool) -> Endpoint:
    """The endpoint; with --url a spec may be given for its [gate]."""
    return resolve_endpoint(None if gate and at.url else spec, at)


def gate_of(spec: Path | None, at: EndpointOptions) -> Gate:
    """The [gate] of the spec, or of the run that is up.

    Raises:
        UsageError: there is no spec, or it names a probe that does not exist.
    """
    from moonpad.spec.loader import load_spec
    from moonpad.verify.gate import Gate
    from moonpad.verify.probes import LONG_PROBES, PROBES

    path = spec
    if path is None or path.suffix != ".toml":
        if at.url:
            raise UsageError("--gate needs a spec", remedy="moonpad verify SPEC.toml --gate")
        from moonpad.run.endpoints import find_run

        path = find_run(spec).path / "spec.toml"
    table = load_spec(path).spec.gate
    gate = Gate(**table.model_dump())
    gate.check((*PROBES, *LONG_PROBES))
    return gate


def next_is_bench(spec: Path | None, at: EndpointOptions, *, gate: bool) -> None:
    """Names the next command, for the same endpoint."""
    next_command("moonpad bench" + at.words(None if gate and at.url else spec))


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


def folder_for(spec: Path | None, at: EndpointOptions, out_folder: Path | None) -> Path:
    """Where the verdict goes: --out, or the run's folder. Creates nothing."""
    if out_folder is not None:
        return out_folder
    if at.url:
        return verdict_folder(None)
    from moonpad.run.endpoints import find_run

    return verdict_folder(find_run(spec).path)


def keep(folder: Path, files: Mapping[str, str], *, named: bool) -> None:
    """Writes the verdict. If the user did not name the folder, a full disk is only a note.

    Raises:
        UsageError: the folder that the user named cannot be written.
    """
    try:
        with writing(folder, "--out FOLDER"):
            keep_verdict(folder, files)
    except UsageError as error:
        if named:
            raise
        note(f"{error.message}; the verdict is not kept")
        return
    note(f"written: {folder / next(iter(files))}")
