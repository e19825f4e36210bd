"""`moonpad runs`: what was measured here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from moonpad.cli.output import emit_json, next_command, note, out


def runs(folder: Path | None = None, *, json: Annotated[bool, Parameter(negative=())] = False) -> None:
    """List what moonpad bench has measured, the last one first.

    Parameters
    ----------
    folder
        A folder of runs; without it, the one where those are kept that --out has not put elsewhere.
    json
        Print one JSON document on stdout.
    """
    from moonpad.bench.listing import listed
    from moonpad.report.runs_table import runs_table
    from moonpad.store.benches import benches_folder
    from moonpad.values.errors import UsageError

    place = folder or benches_folder()
    if folder and not folder.is_dir():
        raise UsageError(f"{folder} is no folder", remedy="moonpad runs  lists those of moonpad's own")
    names = sorted((path for path in place.iterdir() if path.is_dir()), reverse=True) if place.is_dir() else []
    rows = [listed(path) for path in names]
    if json:
        emit_json({"folder": str(place), "runs": [row.as_json() for row in rows]})
        return
    if not rows:
        out().print(f"Nothing was measured in {place}.")
        next_command("moonpad bench SPEC.toml")
        return
    out().print(runs_table(rows))
    note(f"in {place}")
    next_command("moonpad compare last-1 last" if len(rows) > 1 and folder is None else "moonpad report last")
