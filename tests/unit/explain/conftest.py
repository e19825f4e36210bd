"""What the tests of one check do not want to see."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from moonpad.explain.checks import command_checks
from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.releases.mended_later import mended_later


@pytest.fixture(autouse=True)
def without_what_later_releases_mended(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its notes are on nearly every command, and have tests of their own, which see them."""
    if not request.module.__name__.endswith("mended_later"):
        every = command_checks.checks_of

        def others(lines: Sequence[str], words: Sequence[str] = ()) -> tuple[Check, ...]:
            return tuple(check for check in every(lines, words) if check is not mended_later)

        monkeypatch.setattr(command_checks, "checks_of", others)
