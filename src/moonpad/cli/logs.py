"""`moonpad logs`: the engine's own log."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from moonpad.store.run_folder import RunFolder


def logs(
    target: str | None = None,
    *,
    follow_: Annotated[bool, Parameter(name=["--follow", "-f"], negative=())] = False,
    tail: Annotated[int, Parameter(name=["--tail", "-n"])] = 200,
) -> None:
    """Show the engine's log.

    Parameters
    ----------
    target
        A spec or the name of an endpoint; without it, the one that is up.
    follow_
        Go on with the lines as they come, until the run ends.
    tail
        How many of the last lines to show first.
    """
    from moonpad.cli.output import clean, out
    from moonpad.run.endpoints import find_run
    from moonpad.run.truth import is_kept

    folder = find_run(target)
    if not follow_:
        if folder.log_path.exists():
            with folder.log_path.open(encoding="utf-8", errors="replace") as lines:
                for line in deque(lines, maxlen=tail):
                    out().print(clean(line.rstrip("\n")))
        return
    follow(folder, lambda: is_kept(folder))


def follow(folder: RunFolder, goes_on: Callable[[], bool]) -> None:
    """Prints the log and its new lines until the run ends."""
    from moonpad.cli.output import clean, out
    from moonpad.observe.log_tail import LogTail

    tail = LogTail(folder.log_path)
    while True:
        last_look = not goes_on()
        while lines := tail.lines():
            for line in lines:
                out().print(clean(line.rsplit("\r", 1)[-1]))
        if last_look:
            return
        time.sleep(0.2)
