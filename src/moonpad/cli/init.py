"""`moonpad init`: the spec of the best plan, with its reasons as comments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from moonpad.cli.output import Json
from moonpad.cli.plan import PlanOptions
from moonpad.values.errors import UsageError


def init(
    *,
    model: str,
    options: PlanOptions = PlanOptions(),
    out: Annotated[Path, Parameter(name=("--out", "-o"))] = Path("moonpad.toml"),
    force: bool = False,
    json: Json = False,
) -> None:
    """Write the spec of the best plan, with its reasons. Exit 3 where nothing fits.

    Parameters
    ----------
    model
        A name of the catalogue, or a checkpoint's folder.
    out
        The file to write.
    force
        Replace the file if it exists.
    """
    if out.exists() and not force:
        raise UsageError(f"{out} exists", remedy="name another file with -o, or replace it with --force")
    from moonpad.cli.plan_run import run_init

    run_init(model, options, out, json=json)
