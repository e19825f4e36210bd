"""From a name or a spec to its run, and from a run to its endpoint."""

from __future__ import annotations

import os
from pathlib import Path

from moonpad.run.api_keys import read_key
from moonpad.run.planned_figures import planned_of
from moonpad.run.run_status import read_status
from moonpad.store.run_folder import RunFolder, current_run, current_runs
from moonpad.store.schema_version import SchemaTooNew
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.records import replace
from moonpad.values.secret import Secret
from moonpad.values.visible_text import shell_word

LONGEST_PATH = 4096
"""Characters of Linux's PATH_MAX: no file has a longer name."""


def name_of(target: str | Path) -> str:
    """An endpoint's name from itself or from its spec, read only as far as needed."""
    path = Path(target)
    if path.suffix != ".toml":
        return str(target)
    from moonpad.spec.loader import load_spec

    return load_spec(path).spec.name


def find_run(target: str | Path | None) -> RunFolder:
    """The run of a name or a spec; without one, the only run that is up, or the only run of this machine. Raises
    UsageError: there is none, or more than one."""
    if target is not None:
        folder = current_run(name_of(target))
        if folder is None:
            spec = target if len(str(target)) <= LONGEST_PATH else "SPEC.toml"
            raise UsageError(f"{name_of(target)} was never up on this machine", remedy=f"moonpad up {shell_word(spec)}")
        return folder
    folders = without_copies(current_runs())
    if len(folders) > 1:
        readable = tuple(folder for folder in folders if _is_readable(folder))
        up = tuple(folder for folder in readable if read_status(folder, None).up)
        # The run of a newer moonpad is taken only where there is no other: the caller then reports its schema.
        folders = up or tuple(folder for folder in folders if folder not in readable)
    if len(folders) == 1:
        return folders[0]
    if not folders:
        raise UsageError("no endpoint is up", remedy="moonpad up SPEC.toml")
    names = ", ".join(folder.name for folder in folders)
    raise UsageError(f"several endpoints are up: {names}", remedy="name one of them")


def copies_of(name: str) -> tuple[RunFolder, ...]:
    """The current runs of the copies behind that endpoint's router, in their order; empty where it has none."""
    copies = [folder for folder in current_runs() if group_of(folder) == name]
    return tuple(sorted(copies, key=lambda folder: (len(folder.name), folder.name)))


def group_of(folder: RunFolder) -> str:
    """The endpoint whose copy the run is; "" of every other one, and of one that a newer moonpad wrote."""
    try:
        return str(folder.about().get("group") or "")
    except SchemaTooNew:
        return ""


def without_copies(folders: tuple[RunFolder, ...]) -> tuple[RunFolder, ...]:
    """The runs, without the copies of an endpoint whose router is among them."""
    names = {folder.name for folder in folders}
    return tuple(folder for folder in folders if group_of(folder) not in names)


def _is_readable(folder: RunFolder) -> bool:
    try:
        folder.check_schema()
    except SchemaTooNew:
        return False
    return True


def endpoint_of(folder: RunFolder, key: Secret | None = None) -> Endpoint:
    """The endpoint that the run serves. Its key is read again from the source that the spec names. Raises
    PreflightRefused: the source has no usable key."""
    about = folder.about()
    if key is None and (source := about.get("key")):
        key = read_key(env=source.get("env"), file=source.get("file"), environ=os.environ)
    return replace(keyless_endpoint_of(folder), key=key, planned=planned_of(folder))


def keyless_endpoint_of(folder: RunFolder) -> Endpoint:
    """Enough for `/health` and `/metrics`, which need no key."""
    about = folder.about()
    base_url, model, engine = (str(about.get(name, "")) for name in ("base_url", "served_name", "engine"))
    return Endpoint(
        base_url,
        model,
        None,
        engine,
        health_path=str(about.get("health_path", "/health")),
        replica_urls=tuple(map(str, about.get("replica_urls", ()))),
    )


def endpoint_of_run(target: str | Path | None, key: Secret | None) -> Endpoint:
    """The endpoint of a run that is up.

    Raises:
        UsageError: there is no run, or it is unclear which one.
        PreflightRefused: the run is not up.
    """
    folder = find_run(target)
    if not read_status(folder, None).up:
        raise PreflightRefused(f"{folder.name} is not up", remedy=f"moonpad up {shell_word(target or 'SPEC.toml')}")
    return endpoint_of(folder, key)
