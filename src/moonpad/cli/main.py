"""The `moonpad` command: what `explain` keeps for its next run is at hand before all else is imported."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def main() -> None:
    """Runs the command line of this process, and ends it."""
    argv = sys.argv[1:]
    if argv[:1] == ["explain"]:
        gc.set_threshold(1_000_000)  # as in cli/__init__.py, of the largest tables
    with _kept(argv):
        from moonpad.cli.command_line import answer  # its libraries have a hundred patterns of their own

        exit_code = answer(argv)
    from moonpad.cli.process_end import leave

    leave(exit_code)


@contextmanager
def _kept(argv: list[str]) -> Iterator[None]:
    """For the verb that has so many patterns and rows that to make them takes longer than all the rest."""
    if argv[:1] != ["explain"]:
        yield
        return
    from moonpad.store.compiled_patterns import patterns_kept
    from moonpad.store.kept_tables import tables_kept

    with patterns_kept(), tables_kept():
        yield
