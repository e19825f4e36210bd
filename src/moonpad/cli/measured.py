"""How a run that was measured is named: by its path, by its name in `moonpad runs`, or from the last one back."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moonpad.cli.output import note
from moonpad.store.benches import bench_names, benches_folder, new_bench_folder
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
            raise UsageError(f"{named}: {len(names)} runs were measured here", remedy="moonpad runs")
        return benches_folder() / names[place]
    found = [name for name in names if name.startswith(named)]
    if len(found) == 1 or named in found:
        return benches_folder() / (named if named in found else found[0])
    what = f"{len(found)} runs begin so" if found else "there is no such file, folder or run"
    raise UsageError(f"{named}: {what}", remedy="moonpad runs")


@contextmanager
def kept_in(named: Path | None) -> Iterator[Path | None]:
    """The folder that a measurement is kept in: the one that was named, or one of moonpad's own, which is removed where
    nothing was measured. None where that cannot be made: the measurement goes on, and is told on the terminal alone.
    """
    if named is not None:
        yield named
        return
    try:
        folder = new_bench_folder()
    except OSError as error:
        note(f"{benches_folder()} cannot be written: {error.strerror or error}; this run is not kept")
        yield None
        return
    try:
        yield folder
    finally:
        if not any(folder.rglob("run.json")):
            shutil.rmtree(folder, ignore_errors=True)
