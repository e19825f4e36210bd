"""The progress of a start and of an installation: a bar on a terminal, one line a phase elsewhere. On stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from moonpad.cli.output import err
from moonpad.environments.build import InstallProgress
from moonpad.values.units import duration
from moonpad.values.visible_text import one_line


class _Display:
    """A bar that `with` stops; its columns are shown when its first task is added."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _start_bar(self) -> Progress:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[count]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[detail]}", markup=False, style="dim"),
        )
        self._bar = Progress(*columns, console=err(), transient=True)
        self._bar.start()
        return self._bar

    def _keep(self, text: str) -> None:
        """A line that stays above the bar."""
        if self._bar is not None:
            self._bar.console.print(one_line(text), style="dim")

    def _line(self, text: str) -> None:
        err().print(one_line(f"{self._name}: {text} ({duration(time.monotonic() - self._begun)})"))


class StartDisplay(_Display):
    """Shows the events of a start as they come; `also` gets them too."""

    def __init__(self, name: str, also: Callable[[Mapping[str, Any]], None] | None = None) -> None:
        super().__init__(name)
        self._also = also
        self._phase = "starting the engine"

    def __enter__(self) -> Self:
        if err().is_terminal:
            self._task = self._start_bar().add_task(f"{self._name}: {self._phase}", total=None, count="", detail="")
        else:
            self._line(self._phase)
        return self

    def show(self, event: Mapping[str, Any]) -> None:
        if self._also is not None:
            self._also(event)
        match event.get("event"):
            case "phase":
                text = str(event.get("phase"))
                if "kv_tokens" in event:
                    text = f"KV cache: {int(event['kv_tokens']):,} tokens"
                    self._say(text)
                self._update(text, event.get("percent"))
            case "healthy":
                self._update("requesting one real token")
            case "ready":
                self._say(f"first real token after {duration(float(event.get('token_s', 0.0)))}")
            case "controller_ended":
                self._say(f"its controller ended ({event.get('how')}) and is being restarted")
            case "stopping":
                self._update(f"stopping: {event.get('reason')}")

    def _update(self, phase: str, percent: int | None = None) -> None:
        changed = phase != self._phase
        self._phase = phase
        if self._bar is not None:
            total, text = None if percent is None else 100, one_line(f"{self._name}: {phase}")
            self._bar.update(self._task, description=text, total=total, completed=percent or 0)
        elif changed:
            self._line(phase)

    def _say(self, text: str) -> None:
        if self._bar is not None:
            self._keep(f"{self._name}: {text}")
        else:
            self._update(text)


class InstallDisplay(_Display, InstallProgress):
    """Shows nothing before the first phase."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._phase = ""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._keep_phase("✓" if error is None else "✗")
        super().__exit__(kind, error, trace)

    def phase(self, name: str, total: int | None = None) -> None:
        if err().is_terminal:
            self._keep_phase("✓")
            bar = self._bar or self._start_bar()
            for task in bar.task_ids:
                bar.remove_task(task)
            self._task = bar.add_task(one_line(name), total=total, count=f"0/{total}" if total else "", detail="")
        else:
            self._line(name)
        self._phase, self._total, self._phase_begun = name, total, time.monotonic()

    def step(self, done: int | None = None, detail: str = "") -> None:
        if self._bar is not None and detail:
            self._bar.update(self._task, detail=one_line(detail))
        if self._bar is not None and done is not None:
            self._bar.update(self._task, completed=done, count=f"{done}/{self._total}")

    def note(self, text: str) -> None:
        err().print(one_line(f"{self._name}: {text}"))

    def _keep_phase(self, mark: str) -> None:
        """A finished phase stays above the bar, with its seconds."""
        if self._phase:
            self._keep(f"{mark} {self._phase} ({duration(time.monotonic() - self._phase_begun)})")
