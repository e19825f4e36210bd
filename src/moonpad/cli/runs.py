"""`moonpad runs`: the measured runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moonpad.cli.output import Json, emit_json, next_command, note, out
from moonpad.store.result_folders import benches_folder
from moonpad.values.errors import UsageError
from moonpad.values.visible_text import shell_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from moonpad.bench.run_listing import ListedRun


def runs(folder: Path | None = None, *, json: Json = False) -> None:
    """List the runs of moonpad bench, the newest first.

    Parameters
    ----------
    folder
        A folder of runs; by default the one for runs without --out.
    """
    from moonpad.bench.run_listing import list_run
    from moonpad.report.runs_table import runs_table

    place = folder or benches_folder()
    if folder and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", remedy="moonpad runs  lists those in the default folder")
    try:
        names = sorted((path for path in place.iterdir() if path.is_dir()), reverse=True) if place.is_dir() else []
    except OSError as error:
        raise UsageError(f"{place} cannot be read: {error.strerror or error}", remedy="moonpad runs FOLDER") from error
    rows = [list_run(path) for path in names]
    if json:
        emit_json({"folder": str(place), "runs": [row.as_json() for row in rows]})
        return
    if not rows:
        out().print(f"No runs in {place}.")
        next_command("moonpad bench SPEC.toml")
        return
    out().print(runs_table(rows))
    note(f"in {place}")
    next_command(_next(rows, named=folder is None))


def _next(rows: Sequence[ListedRun], *, named: bool) -> str:
    """A command for the newest runs; `named`: their names are enough."""
    if named and [row.state for row in rows[:2]] == ["whole", "whole"]:
        return "moonpad compare last-1 last"
    for row in rows:
        if row.state in ("whole", "sweep"):
            return f"moonpad report {row.folder.name if named else shell_word(row.folder)}"
    return "moonpad bench SPEC.toml"
