"""How far an installation has come, told to whoever shows it."""

from __future__ import annotations

from typing import Protocol


class InstallProgress(Protocol):
    def phase(self, name: str, total: int | None = None) -> None:
        """The next phase begins; `total` is the number of steps in it, None where nobody can say."""

    def step(self, done: int | None = None, detail: str = "") -> None:
        """`done` steps of the phase are done, and `detail` is what goes on."""

    def note(self, text: str) -> None:
        """Something that the user should have read."""


class Silent:
    def phase(self, name: str, total: int | None = None) -> None:
        pass

    def step(self, done: int | None = None, detail: str = "") -> None:
        pass

    def note(self, text: str) -> None:
        pass
