"""The progress of a start: one redrawn line on a terminal, one line a phase elsewhere. On stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from moonpad.cli.output import clean, err
from moonpad.values.units import duration

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


class StartDisplay:
    """Shows the events of a start as they come; `also` gets them too."""

    def __init__(self, name: str, also: Callable[[Mapping[str, Any]], None] | None = None) -> None:
        self._name = name
        self._also = also
        self._begun = time.monotonic()
        self._phase = "starting the engine"
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if err().is_terminal:
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                TimeElapsedColumn(),
                console=err(),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(f"{self._name}: {self._phase}", total=None)
        else:
            self._line(self._phase)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, event: Mapping[str, Any]) -> None:
        if self._also is not None:
            self._also(event)
        match event.get("event"):
            case "phase":
                text = str(event.get("phase"))
                if "kv_tokens" in event:
                    text = f"KV cache: {int(event['kv_tokens']):,} tokens"
                    self._keep(text)
                self._update(text, event.get("percent"))
            case "healthy":
                self._update("requesting one real token", None)
            case "ready":
                self._keep(f"first real token after {duration(float(event.get('token_s', 0.0)))}")
            case "controller_ended":
                self._keep(f"its controller ended ({event.get('how')}) and is being restarted")
            case "stopping":
                self._update(f"stopping: {event.get('reason')}", None)

    def _update(self, phase: str, percent: int | None) -> None:
        changed = phase != self._phase
        self._phase = phase
        if self._bar is not None and self._task is not None:
            total = 100 if percent is not None else None
            self._bar.update(
                self._task, description=clean(f"{self._name}: {phase}"), total=total, completed=percent or 0
            )
        elif changed:
            self._line(phase)

    def _keep(self, text: str) -> None:
        """A line that stays above the bar."""
        if self._bar is not None:
            self._bar.console.print(clean(f"{self._name}: {text}"), style="dim")
        elif text != self._phase:
            self._phase = text
            self._line(text)

    def _line(self, text: str) -> None:
        err().print(clean(f"{self._name}: {text} ({duration(time.monotonic() - self._begun)})"))
