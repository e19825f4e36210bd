from __future__ import annotations

import pytest

from moonpad.cli import output
from moonpad.cli.eval_progress import ProgressLines


def test_a_line_every_half_minute_with_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    """40 of 100 were there; ten more took 35 s, so the 50 that are missing take 175 s."""
    output.err.cache_clear()
    now = [1000.0]
    lines = ProgressLines(100, 40, lambda: now[0])
    for second, done in ((5.0, 42), (29.9, 48), (35.0, 50), (50.0, 55), (66.0, 60)):
        now[0] = 1000.0 + second
        lines.show(done, "answered: 3 cut")
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "50 of 100 answered: 3 cut, about 2 min 55 s left",
        "60 of 100 answered: 3 cut, about 2 min 12 s left",
    ]
