"""`moonpad runs`: the measured runs, and the evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moonpad.cli.output import Json, emit_json, next_command, note, out
from moonpad.store.result_folders import benches_folder, evals_folder
from moonpad.values.errors import UsageError
from moonpad.values.visible_text import shell_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from moonpad.bench.run_listing import ListedRun
    from moonpad.evaluate.listing import ListedEval


def runs(folder: Path | None = None, *, json: Json = False) -> None:
    """List the runs of moonpad bench and the evaluations of moonpad eval, the newest first.

    Parameters
    ----------
    folder
        A folder of runs or evaluations; by default those for what has no --out.
    """
    from moonpad.bench.run_listing import list_run
    from moonpad.evaluate.listing import list_eval
    from moonpad.evaluate.saved import is_eval
    from moonpad.report.evals_table import evals_table
    from moonpad.report.runs_table import runs_table

    if folder and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", remedy="moonpad runs  lists those in the default folder")
    place = folder or benches_folder()
    inside = _folders_in(place)
    beside = [] if folder else _folders_in(evals_folder())
    rows = [list_run(path) for path in inside if not is_eval(path)]
    evals = [list_eval(path) for path in [*inside, *beside] if is_eval(path)]
    if json:
        document = {"runs": [row.as_json() for row in rows], "evals": [row.as_json() for row in evals]}
        emit_json({"folder": str(place), **document})
        return
    if not rows and not evals:
        out().print(f"No runs in {place}.")
        next_command("moonpad bench SPEC.toml")
        return
    if rows:
        out().print(runs_table(rows))
        note(f"in {place}")
    if rows and evals:
        out().print()
    if evals:
        out().print(evals_table(evals))
        note(f"in {folder or evals_folder()}")
    measured = not evals or any(row.state != "unreadable" for row in rows)
    next_command(_next(rows, named=folder is None) if measured else _next_eval(evals, named=folder is None))


def _folders_in(place: Path) -> list[Path]:
    """The newest first."""
    try:
        return sorted((path for path in place.iterdir() if path.is_dir()), reverse=True) if place.is_dir() else []
    except OSError as error:
        raise UsageError(f"{place} cannot be read: {error.strerror or error}", remedy="moonpad runs FOLDER") from error


def _next(rows: Sequence[ListedRun], *, named: bool) -> str:
    """A command for the newest runs; `named`: their names are enough."""
    if named and [row.state for row in rows[:2]] == ["whole", "whole"]:
        return "moonpad compare last-1 last"
    for row in rows:
        if row.state in ("whole", "sweep"):
            return f"moonpad report {row.folder.name if named else shell_word(row.folder)}"
    return "moonpad bench SPEC.toml"


def _next_eval(rows: Sequence[ListedEval], *, named: bool) -> str:
    words = [row.folder.name if named else shell_word(row.folder) for row in rows]
    if rows[0].state == "partial":
        return f"moonpad eval --resume {words[0]}"
    alike = len(rows) > 1 and [rows[0].task, rows[0].protocol] == [rows[1].task, rows[1].protocol]
    if alike and rows[0].state == rows[1].state == "whole":
        return f"moonpad compare {words[1]} {words[0]}"
    return f"moonpad report {words[0]}" if rows[0].state == "whole" else "moonpad eval SPEC.toml"
