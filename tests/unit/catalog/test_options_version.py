"""The order of version texts, by hand and by PEP 440's own rules."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.catalog.options import version_key
from moonpad.catalog.options.version import release_of

# Oldest first: PEP 440's own example of an order, then the forms that the engines and the seeds use.
ORDERED = (
    ("1.dev0", "1.0.dev456", "1.0a1", "1.0a2.dev456", "1.0a12.dev456", "1.0a12", "1.0b1.dev456", "1.0b2"),
    ("1.0b2", "1.0b2.post345.dev456", "1.0b2.post345", "1.0rc1.dev456", "1.0rc1", "1.0", "1.0.post456.dev34"),
    ("1.0.post456.dev34", "1.0.post456", "1.0.15", "1.1.dev1"),
    ("0.8.5", "0.10.0rc1", "v0.10.0", "0.10.1", "0.10.1.1", "0.10.2", "0.11.0"),
    ("0.11.0", "v0.11.1rc6.dev211+g934a9c3b7", "0.11.1rc6", "0.11.1", "0.11.2"),
    ("0.4.9", "0.4.9.post6", "0.4.10", "0.4.10.post2", "0.5.0rc2", "0.5.1.post3", "0.5.2rc0", "0.5.2", "0.5.10"),
    ("1.0.0rc2", "1.0.0", "1.2.0rc6.post1", "1.2.0rc7", "1.2.0", "1.3.0rc1"),
)


@pytest.mark.parametrize("texts", ORDERED)
def test_order(texts: tuple[str, ...]) -> None:
    for older, newer in pairwise(texts):
        first, second = version_key(older), version_key(newer)
        assert first is not None
        assert second is not None
        assert first < second, (older, newer)


@pytest.mark.parametrize(
    ("one", "other"), [("0.32.0", "v0.32"), ("0.32.0+cpu", "0.32.0"), ("1.0c1", "1.0RC1"), ("1.0-post1", "1.0.post1")]
)
def test_the_same(one: str, other: str) -> None:
    assert version_key(one) == version_key(other) is not None


@pytest.mark.parametrize(
    "text", ["", "nightly", "latest", "0.11.x", "1..2", "0.11.0 ; rm", "١.٢", "1" * 200, "v", "-1"]
)
def test_no_version(text: str) -> None:
    assert version_key(text) is None
    assert release_of(text) == ""


def test_release_of_a_candidate() -> None:
    assert release_of("v0.20.2rc1") == "0.20.2"
    assert release_of("0.23.0.post1") == "0.23.0"


@given(st.text(max_size=60))
def test_any_text_is_answered(text: str) -> None:
    key, known = version_key(text), version_key("0.11.0")
    assert known is not None
    assert key is None or (key < known) + (key == known) + (key > known) == 1
