"""A measured run as an argument: its path, its name in `moonpad runs`, or `last-N`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moonpad.cli.output import note
from moonpad.store.result_folders import bench_names, benches_folder, evals_folder, new_bench_folder
from moonpad.values.errors import UsageError

LAST = re.compile(r"last(?:-(\d{1,6}))?")


def measured_path(named: str) -> Path:
    """
    Raises:
        UsageError: nothing has that name, or several have.
    """
    path = Path(named)
    if path.exists():
        return path
    names = bench_names()
    if back := LAST.fullmatch(named):
        place = len(names) - 1 - int(back[1] or 0)
        if place < 0:
            raise UsageError(f"{named}: there are only {len(names)} runs", remedy="moonpad runs")
        return benches_folder() / names[place]
    matches = [name for name in names if name.startswith(named)]
    if len(matches) == 1 or named in matches:
        return benches_folder() / (named if named in matches else matches[0])
    what = f"{len(matches)} runs have names that begin with it" if matches else "no such file, folder or run"
    raise UsageError(f"{named}: {what}", remedy="moonpad runs")


def eval_path(named: str) -> Path:
    """An evaluation as an argument: its folder, or the name of one of moonpad's own.

    Raises:
        UsageError: nothing has that name, or several have.
    """
    path = Path(named)
    if path.exists():
        return path
    folder = evals_folder()
    names = [each.name for each in folder.iterdir()] if folder.is_dir() else []
    matches = [name for name in names if name.startswith(named)]
    if named and (len(matches) == 1 or named in matches):
        return folder / (named if named in matches else matches[0])
    what = f"{len(matches)} evaluations have names that begin with it" if named and matches else "no such evaluation"
    raise UsageError(f"{named}: {what}", remedy=f"name a folder of moonpad eval, as those in {folder}")


def eval_folder(named: str) -> Path | None:
    """The folder of the evaluation that is meant; None if no evaluation is."""
    from moonpad.evaluate.saved import is_eval

    try:
        folder = eval_path(named)
    except UsageError:
        return None
    return folder if is_eval(folder) else None


@contextmanager
def output_folder(named: Path | None) -> Iterator[Path | None]:
    """The folder of a measurement: the named one, or one of moonpad's own, which is removed if nothing was measured.
    None if that cannot be created: the measurement is then only printed.
    """
    if named is not None:
        yield named
        return
    try:
        folder = new_bench_folder()
    except OSError as error:
        note(f"{benches_folder()} cannot be written: {error.strerror or error}; this run is not saved")
        yield None
        return
    try:
        yield folder
    finally:
        if not any(folder.rglob("run.json")):
            shutil.rmtree(folder, ignore_errors=True)
