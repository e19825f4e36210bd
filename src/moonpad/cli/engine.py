"""`moonpad engine list` and `moonpad engine remove`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from moonpad.cli.engine_names import known, locked_engines, next_of
from moonpad.cli.output import Json, emit_json, next_command, note, out
from moonpad.engines import ENGINES
from moonpad.engines.router_programs import ROUTERS
from moonpad.engines.tools import TOOLS
from moonpad.environments.install import remove as remove_engine
from moonpad.environments.installed import InstalledEngine, list_installed, list_unfinished
from moonpad.environments.paths import engines_home
from moonpad.report.plain_text import shown
from moonpad.spec.home import home_folder
from moonpad.values.units import gib


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
    next_command(next_of(first) if first else f"moonpad engine install {locked_engines()[0]}")


def remove(name: str, *, json: Json = False) -> None:
    """Remove an installed engine.

    Parameters
    ----------
    name
        The engine or router, as it was installed; or lm-eval.
    """
    engine = known(name).name
    note(f"removing {engine} …")
    folders = remove_engine(engine)
    if json:
        emit_json({"removed": [str(folder) for folder in folders]})
        return
    for folder in folders:
        out().print(f"removed {folder}")
    if not folders:
        out().print(f"{name} is not installed: nothing to remove")
    if name in (*locked_engines(), *TOOLS, *ROUTERS):
        next_command(f"moonpad engine install {name}")


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
