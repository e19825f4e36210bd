"""What the runs of `moonpad verify` have in common: the gate of a spec, and where a verdict is kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.cli.output import note
from moonpad.store.verdicts import keep_verdict, verdict_folder
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from moonpad.verify.gate import Gate


def endpoint_of(spec: Path | None, at: EndpointOptions, *, gate: bool) -> Endpoint:
    """The endpoint; beside --url a spec may stand for its [gate]."""
    return resolve_endpoint(None if gate and at.url else spec, at)


def gate_of(spec: Path | None, at: EndpointOptions) -> Gate:
    """The [gate] of the spec, or of the run that is up.

    Raises:
        UsageError: there is no spec, or it names a probe that there is not.
    """
    from moonpad.spec.load import load_spec
    from moonpad.verify.gate import Gate
    from moonpad.verify.probes import LONG_PROBES, PROBES

    path = spec
    if path is None or path.suffix != ".toml":
        if at.url:
            raise UsageError("--gate judges by a spec, and there is none", remedy="moonpad verify SPEC.toml --gate")
        from moonpad.run.endpoints import find_run

        path = find_run(spec).path / "spec.toml"
    table = load_spec(path).spec.gate
    gate = Gate(**table.model_dump())
    gate.check((*PROBES, *LONG_PROBES))
    return gate


def words_of(spec: Path | None, at: EndpointOptions, *, gate: bool) -> str:
    """What names the same endpoint again, for the next command."""
    return at.words(None if gate and at.url else spec)


def with_gate(document: Mapping[str, object], broken: tuple[str, ...] | None) -> dict[str, object]:
    """The document, and why the gate is not passed, where one was asked for."""
    return dict(document) if broken is None else {**document, "gate": list(broken)}


def check_gate(broken: tuple[str, ...] | None) -> None:
    """
    Raises:
        CheckFailed: the gate is not passed.
    """
    if broken:
        raise CheckFailed(f"the gate is not passed: {'; '.join(broken)}")


def folder_for(spec: Path | None, at: EndpointOptions, out_folder: Path | None) -> Path:
    """Where the verdict goes: --out, or the folder of the run. Nothing is made."""
    if out_folder is not None:
        return out_folder
    if at.url:
        return verdict_folder(None)
    from moonpad.run.endpoints import find_run

    return verdict_folder(find_run(spec).path)


def keep(folder: Path, files: Mapping[str, str], *, named: bool) -> None:
    """Writes the verdict. Where nobody named the folder, a full disk costs it, and not the answer of the command.

    Raises:
        UsageError: the folder that the user named cannot be written.
    """
    try:
        keep_verdict(folder, files)
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror or error}"
        if named:
            raise UsageError(message, remedy="--out FOLDER") from error
        note(f"{message}; the verdict is not kept")
        return
    note(f"written: {folder / next(iter(files))}")
