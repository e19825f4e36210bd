"""What every verb prints with: results on stdout, progress and notes on stderr.

rich turns colours off if NO_COLOR is set or the stream is not a terminal. Markup is off everywhere, so that a bracket
in a model's answer or in a log line is text. No known secret passes here, and what would move a terminal's cursor or
hide text is shown as an escape (cli/safe_console.py).
"""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moonpad.values.errors import MoonpadError, PreflightRefused
from moonpad.values.finding import Finding
from moonpad.values.redaction import redacted
from moonpad.values.visible_text import one_line, visible_json

if TYPE_CHECKING:  # rich is not imported by the commands that print none of it
    from rich.console import Console, RenderableType

Json = Annotated[bool, Parameter(help="Print one JSON document on stdout.")]
"""The option of every verb whose result a program may read."""

PIPE_COLUMNS = 10_000
"""A pipe or a file has no width: a row of a table stays on one line, so that `grep` and `awk` can read it."""


@cache
def out() -> Console:
    """The console of results, on stdout."""
    return _console(stderr=False)


@cache
def err() -> Console:
    """The console of progress and notes, on stderr."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    from moonpad.cli.safe_console import SafeConsole

    console = SafeConsole(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)
    if not console.file.isatty():
        console.width = PIPE_COLUMNS
    return console


def emit(text: RenderableType, document: object, *, json: bool) -> None:
    """The result of a verb on stdout: the document with --json, and nothing else there; else the text."""
    if not json:
        out().print(text)
        return
    # Not orjson: an import of it that Ctrl-C interrupts ends in a segmentation fault (3.13.0, seen here).
    sys.stdout.write(visible_json(json_module.dumps(redacted(document), indent=2, ensure_ascii=False)) + "\n")
    sys.stdout.flush()


def emit_json(document: object) -> None:
    emit("", document, json=True)


def emit_json_line(document: object) -> None:
    """One of several documents, on a line of its own, for a reader that follows."""
    sys.stdout.write(visible_json(json_module.dumps(redacted(document), ensure_ascii=False)) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    err().print(text)


def note_findings(findings: Iterable[Finding]) -> None:
    for finding in findings:
        note(f"{finding.severity}: {finding.where}: {finding.message}")


def next_command(command: str) -> None:
    """Each command ends by naming the next one."""
    err().print(f"Next: {one_line(command)}", style="dim")


@contextmanager
def busy(doing: str) -> Iterator[Callable[[str], None]]:
    """Shows on stderr what is being done, until it is done; nothing where stderr is not a terminal."""
    if not err().is_terminal:
        yield lambda text: None
        return
    from rich.text import Text  # of a str a spinner reads the markup

    with err().status(Text(one_line(doing))) as status:
        yield lambda text: status.update(Text(one_line(text)))


@contextmanager
def bar(doing: str, total: int) -> Iterator[Callable[..., None]]:
    """`show(done, text, total)` moves a bar on stderr; nothing where stderr is not a terminal.

    Four refreshes a second: the bar may be drawn by the process that takes timestamps.
    """
    if not err().is_terminal:
        yield lambda done, text="", total=None: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err(), transient=True, refresh_per_second=4) as progress:
        task = progress.add_task(one_line(doing), total=total)

        def show(done: int, text: str = "", total: int | None = None) -> None:
            progress.update(task, completed=done, description=one_line(text) or None, total=total)

        yield show


def print_error(error: MoonpadError) -> None:
    """What happened, its numbers, one remedy. Never a traceback."""
    err().print(f"moonpad: {error.message}", style="bold red")
    if isinstance(error, PreflightRefused):
        for finding in error.findings:
            err().print(f"  {finding.severity}: {finding.where}: {finding.message}")
            if finding.remedy:
                err().print(f"    {finding.remedy}")
    if error.remedy:
        err().print(f"  {error.remedy}")
