"""The list of the tests that `make test` leaves out names tests that there are."""

from __future__ import annotations

import pytest

from tests.conftest import DEAR_SHARE, ROOT

LINES = [
    line for line in (ROOT / "tests" / "dear_tests.txt").read_text().splitlines() if line and not line.startswith("#")
]


@pytest.mark.parametrize("line", LINES)
def test_is_there(line: str) -> None:
    path, _, name = DEAR_SHARE.sub("", line).partition("::")
    function = name.partition("[")[0].partition("*")[0]
    assert any(f"def {function}" in file.read_text() for file in ROOT.glob(path))
