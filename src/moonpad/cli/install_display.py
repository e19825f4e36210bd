"""The progress of an installation: a bar on a terminal, one line a phase elsewhere. On stderr."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from moonpad.cli.output import clean, err
from moonpad.environments.build import InstallProgress
from moonpad.values.units import duration

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class InstallDisplay(InstallProgress):
    """Shows nothing before the first phase."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = self._phase_begun = time.monotonic()
        self._phase = ""
        self._total: int | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._keep_phase(done=error is None)
            self._bar.stop()

    def phase(self, name: str, total: int | None = None) -> None:
        if err().is_terminal:
            self._keep_phase()
            bar = self._bar = self._bar or self._started_bar()
            if self._task is not None:
                bar.remove_task(self._task)
            self._task = bar.add_task(clean(name), total=total, count=f"0/{total}" if total else "", detail="")
        else:
            err().print(clean(f"{self._name}: {name} ({duration(time.monotonic() - self._begun)})"))
        self._phase, self._total, self._phase_begun = name, total, time.monotonic()

    def step(self, done: int | None = None, detail: str = "") -> None:
        if self._bar is not None and self._task is not None:
            if detail:
                self._bar.update(self._task, detail=clean(detail))
            if done is not None:
                self._bar.update(self._task, completed=done, count=f"{done}/{self._total}")

    def note(self, text: str) -> None:
        err().print(clean(f"{self._name}: {text}"))

    def _started_bar(self) -> Progress:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[count]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[detail]}", markup=False, style="dim"),
            console=err(),
            transient=True,
        )
        bar.start()
        return bar

    def _keep_phase(self, done: bool = True) -> None:
        """A finished phase stays above the bar, with its seconds."""
        if self._bar is not None and self._phase:
            mark = "✓" if done else "✗"
            took = duration(time.monotonic() - self._phase_begun)
            self._bar.console.print(clean(f"{mark} {self._phase} ({took})"), style="dim")
