"""The progress of an installation, for whoever shows it."""

from __future__ import annotations

from typing import Protocol


class InstallProgress(Protocol):
    def phase(self, name: str, total: int | None = None) -> None:
        """The next phase begins; `total` is the number of steps in it, None where it is unknown."""

    def step(self, done: int | None = None, detail: str = "") -> None:
        """`done` steps of the phase are done; `detail` is the present one."""

    def note(self, text: str) -> None:
        """A warning for the user."""


class Silent:
    def phase(self, name: str, total: int | None = None) -> None:
        pass

    def step(self, done: int | None = None, detail: str = "") -> None:
        pass

    def note(self, text: str) -> None:
        pass
