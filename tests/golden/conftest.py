"""Golden files: spec in, text out. `pytest tests/golden --regenerate-golden` rewrites them, and fails on purpose: the
difference is to be read before it is believed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regenerate-golden", action="store_true", help="rewrite the golden files; the run fails")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: the text is what stands in the file of that name."""

    def compare(name: str, text: str) -> None:
        path = HERE / name
        if request.config.getoption("--regenerate-golden", default=False):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            pytest.fail(f"{name} was written anew; read the difference, then run without --regenerate-golden")
        assert text == path.read_text(encoding="utf-8")

    return compare
