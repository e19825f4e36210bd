"""The progress bar of a measurement, and the errors that end one: shared by `bench`, `--sweep` and `--repeat`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from moonpad.cli.output import bar, clean, note
from moonpad.values.errors import CheckFailed, Interrupted

if TYPE_CHECKING:
    from moonpad.bench.result import BenchResult
    from moonpad.bench.run import BenchProgress, OnProgress


@contextmanager
def progress_bar() -> Iterator[OnProgress]:
    from moonpad.bench.progress_line import LiveFigures

    live: LiveFigures | None = None
    shown = ""
    with bar("calibrate", 1) as show:

        def on_progress(progress: BenchProgress) -> None:
            nonlocal live, shown
            text = f"{progress.phase}, {progress.failed} failed" if progress.failed else progress.phase
            if progress.record is not None:
                live = live or LiveFigures(monotonic)
                live.add(progress.record)
                text = f"{text}: {live.text(progress.running)}"
            if text != shown or progress.done == progress.total:  # of a thousand that end at once, a few are shown
                shown = text
                show(progress.done, text, progress.total)

        yield on_progress


def check_complete(result: BenchResult, interrupted: str, same_endpoint: str) -> None:
    """
    Raises:
        Interrupted: Ctrl-C ended the run; `interrupted` is the message.
        CheckFailed: no request succeeded.
    """
    if result.partial:
        raise Interrupted(interrupted)
    if not result.metrics.completed:
        kinds = ", ".join(f"{count} × {kind}" for kind, count in result.metrics.failures.items())
        raise CheckFailed(
            f"none of {result.plan.config.requests} requests succeeded: {clean(kinds)}",
            remedy=f"moonpad verify{same_endpoint}",
        )


def write_summary(folder: Path, name: str, document: Mapping[str, Any], table: str = "") -> None:
    """Of a sweep or of repeats; a folder that cannot be written costs a note alone."""
    from moonpad.store.atomic_files import replace_json, replace_text

    try:
        replace_json(folder / name, document, mode=0o644)
        if table:
            replace_text((folder / name).with_suffix(".md"), table + "\n", mode=0o644)
        note(f"written: {folder}")
    except OSError as error:
        note(f"{folder} cannot be written: {error.strerror or error}")
