"""`moonpad engine install ENGINE --library deepep|deepgemm`: among the engine's own packages, or built beside them."""

from __future__ import annotations

from typing import Any

from moonpad.catalog.kernel_libraries import KernelLibrary, kernel_libraries, kernel_library
from moonpad.catalog.recipes import read_lock
from moonpad.cli.output import emit_json, next_command, note, out
from moonpad.cli.progress_display import InstallDisplay
from moonpad.engines.base import Engine
from moonpad.environments.kernel_build import KernelInstall
from moonpad.environments.paths import engines_home
from moonpad.environments.source_steps import script_of
from moonpad.values.errors import PreflightRefused, UsageError


def install_library(engine: Engine, name: str, *, dry_run: bool, json: bool) -> None:
    """
    Raises:
        UsageError: the engine has no such library.
        PreflightRefused: it cannot be built on this machine.
    """
    library = kernel_library(engine.name, name)
    if library is None:
        there = [f"{each.engine} --library {each.name}" for each in kernel_libraries()]
        raise UsageError(
            f"moonpad adds no {name} to {engine.name}",
            remedy=f"there is: moonpad engine install {', or '.join(there)}",
        )
    if library.build is None:
        _print_included(engine, library, json=json)
        return
    build = KernelInstall(library, library.build, engines_home())
    if dry_run:
        _print_steps(build, json=json)
        return
    try:
        build.refuse()
    except PreflightRefused as refused:
        raise PreflightRefused(
            refused.message,
            remedy=f"the steps for a machine that can: moonpad engine install {engine.name} --library {name} --dry-run",
            findings=refused.findings,
        ) from None
    already = build.is_there
    if not already:
        with InstallDisplay(f"{engine.name}-{name}") as display:
            build.run(display)
    if json:
        emit_json({**_about(library), "already": already})
        return
    out().print(f"{name} of commit {library.commit[:9]} is in {build.place.folder}")


def _print_included(engine: Engine, library: KernelLibrary, *, json: bool) -> None:
    """Nothing has to be installed for it but the engine."""
    version = ""
    if library.package:
        if engine.recipe is None:
            raise ValueError(f"{engine.name} has no lock, and {library.package} is said to be in it")
        version = read_lock(engine.recipe.lock).pins[library.package]
    if json:
        emit_json({**_about(library), "package": library.package, "version": version, "within": library.within})
        return
    where = f"as {library.package} {version}, by its sha256" if library.package else f"in its wheel, {library.within}"
    commit = f", of commit {library.commit[:9]}" if library.commit else ""
    out().print(f"{library.name} comes with {engine.name} {library.engine_version}: {where}{commit}", soft_wrap=True)
    next_command(f"moonpad engine install {engine.name}")


def _print_steps(build: KernelInstall, *, json: bool) -> None:
    library, how = build.kernels, build.build
    if json:
        steps = [{"what": each.what, "env": dict(each.env), "argv": list(each.argv)} for each in build.steps]
        pins = {"torch": how.torch, "cuda": how.torch_cuda, "nvshmem": how.nvshmem, "architectures": how.architectures}
        emit_json({**_about(library), "pins": pins, "steps": steps})
        return
    title = (
        f"{library.name} for {library.engine} {library.engine_version}: torch {how.torch}, CUDA {how.torch_cuda}, "
        f"NVSHMEM {how.nvshmem}"
    )
    print(script_of(title, build.steps), end="")  # as a file to be run: not a character of it may be wrapped
    if library.note:
        note(library.note)


def _about(library: KernelLibrary) -> dict[str, Any]:
    return {
        "library": library.name,
        "engine": library.engine,
        "engine_version": library.engine_version,
        "repository": library.repository,
        "commit": library.commit,
    }
