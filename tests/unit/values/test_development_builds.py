"""What a build of the main branch may have."""

from __future__ import annotations

import pytest

from moonpad.values.versions import may_hold


@pytest.mark.parametrize(
    ("version", "first", "expected"),
    [
        ("0.26.1rc1.dev229+g124154a88", "0.27.0", True),
        ("0.27.0rc1.dev5", "0.27.0", True),
        ("0.25.0.dev5", "0.27.0", False),
        ("0.26.0", "0.27.0", False),
        ("nightly", "0.27.0", False),
    ],
)
def test_may_hold(version: str, first: str, *, expected: bool) -> None:
    assert may_hold(version, first) is expected
