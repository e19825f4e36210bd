"""From a name or a spec to its run, and from a run to its endpoint."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from moonpad.run.keys import read_key
from moonpad.run.planned import planned_of
from moonpad.run.truth import truth_of
from moonpad.store.run_folder import RunFolder, current_run, current_runs
from moonpad.store.schema import SchemaTooNew
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.secret import Secret


def name_of(target: str | Path) -> str:
    """An endpoint's name from itself or from its spec, read only as far as needed."""
    path = Path(target)
    if path.suffix != ".toml":
        return str(target)
    from moonpad.spec.load import load_spec

    return load_spec(path).spec.name


def find_run(target: str | Path | None) -> RunFolder:
    """The run of a name or a spec; without one, the only run that is up, or the only one that there is.

    Raises:
        UsageError: none, or more than one, could be meant.
    """
    if target is not None:
        folder = current_run(name_of(target))
        if folder is None:
            raise UsageError(f"{name_of(target)} was never up on this machine", remedy=f"moonpad up {target}")
        return folder
    folders = current_runs()
    if len(folders) > 1:
        known = tuple(folder for folder in folders if _is_known(folder))
        # What a newer moonpad keeps is meant only where nothing else can be: whoever asks for it is told so then.
        folders = _those_up(known) or tuple(folder for folder in folders if folder not in known)
    if len(folders) == 1:
        return folders[0]
    if not folders:
        raise UsageError("no endpoint is up", remedy="moonpad up SPEC.toml")
    names = ", ".join(folder.name for folder in folders)
    raise UsageError(f"several endpoints are up: {names}", remedy="name one of them")


def _those_up(folders: tuple[RunFolder, ...]) -> tuple[RunFolder, ...]:
    return tuple(folder for folder in folders if truth_of(folder, None).up)


def _is_known(folder: RunFolder) -> bool:
    try:
        folder.check_schema()
    except SchemaTooNew:
        return False
    return True


def endpoint_of(folder: RunFolder, key: Secret | None = None) -> Endpoint:
    """The endpoint that the run serves. Its key is read again from where the spec said it is.

    Raises:
        PreflightRefused: the key is not there.
    """
    about = folder.about()
    if key is None and (source := about.get("key")):
        key = read_key(env=source.get("env"), file=source.get("file"), environ=os.environ)
    return replace(_endpoint(folder, key), planned=planned_of(folder))


def keyless_endpoint_of(folder: RunFolder) -> Endpoint:
    """The same for whoever asks `/health` and `/metrics` only, which want no key."""
    return _endpoint(folder, None)


def _endpoint(folder: RunFolder, key: Secret | None) -> Endpoint:
    about = folder.about()
    return Endpoint(
        str(about.get("base_url", "")), str(about.get("served_name", "")), key, str(about.get("engine", ""))
    )


def endpoint_of_run(target: str | Path | None, key: Secret | None) -> Endpoint:
    """The endpoint of a run that is up.

    Raises:
        UsageError: which run is meant is not clear.
        PreflightRefused: the run is not up.
    """
    folder = find_run(target)
    if not truth_of(folder, None).up:
        raise PreflightRefused(f"{folder.name} is not up", remedy=f"moonpad up {target or ''}".rstrip())
    return endpoint_of(folder, key)
