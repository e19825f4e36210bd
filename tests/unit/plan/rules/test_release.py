"""Engine versions are ordered as PEP 440 orders them; the oracle is the packaging library's own documentation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.plan.rules.release import release, since

ORDERED = [
    "0.9.2",
    "0.10.0.dev1",
    "0.10.0rc1",
    "0.10.0",
    "0.10.0.post2",
    "0.10.1.1",
    "0.10.2",
    "0.11.1.dev3",
    "0.11.1rc6.dev211+g934a9c3b7",
    "0.11.1rc6",
    "0.11.1",
    "0.12",
    "0.12.1",
    "1.0.0rc2",
    "1.0.0",
]


def test_in_order() -> None:
    assert sorted(ORDERED, key=release) == ORDERED
    assert len({release(version) for version in ORDERED}) == len(ORDERED)


@pytest.mark.parametrize(("one", "other"), [("0.12", "0.12.0"), ("v0.12.0", "0.12.0"), ("0.12.0+cu129", "0.12.0")])
def test_the_same_version(one: str, other: str) -> None:
    assert release(one) == release(other)


def test_what_is_no_version_is_the_newest() -> None:
    assert since("", "0.33.0")
    assert since("nightly", "0.33.0")
    assert since("0.1", "")
    assert not since("0.11.1rc6.dev211+g934a9c3b7", "0.11.1")


@given(st.text(max_size=40))
def test_no_text_breaks_it(text: str) -> None:
    assert isinstance(since(text, "0.11.0"), bool)
