"""The order of engine versions: by hand, by PEP 440's own examples, and beside `packaging`."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from moonpad.values.errors import UsageError
from moonpad.values.versions import (
    CHANNELS,
    checked_version,
    is_final,
    nearest_release,
    order,
    parse,
    release_of,
    series,
    since,
)

# Oldest first: PEP 440's own example of an order, then the forms that the engines and the seeds use.
ORDERED = (
    ("1.dev0", "1.0.dev456", "1.0a1", "1.0a2.dev456", "1.0a12.dev456", "1.0a12", "1.0b1.dev456", "1.0b2"),
    ("1.0b2", "1.0b2.post345.dev456", "1.0b2.post345", "1.0rc1.dev456", "1.0rc1", "1.0", "1.0.post456.dev34"),
    ("1.0.post456.dev34", "1.0.post456", "1.0.15", "1.1.dev1"),
    ("0.8.5", "0.10.0rc1", "v0.10.0", "0.10.1", "0.10.1.1", "0.10.2", "0.11.0"),
    ("0.9.2", "0.10.0.dev1", "0.10.0rc1", "0.10.0", "0.10.0.post2", "0.10.1.1", "0.10.2", "0.11.1.dev3"),
    ("0.11.0", "v0.11.1rc6.dev211+g934a9c3b7", "0.11.1rc6", "0.11.1", "0.11.2", "0.12", "0.12.1", "1.0.0rc2"),
    ("0.4.9", "0.4.9.post6", "0.4.10", "0.4.10.post2", "0.5.0rc2", "0.5.1.post3", "0.5.2rc0", "0.5.2", "0.5.10"),
    ("1.0.0rc2", "1.0.0", "1.2.0rc6.post1", "1.2.0rc7", "1.2.0", "1.3.0rc1"),
    ("0.20.0rc1", "0.20", "99.0", "nightly"),
)
SAME = (
    ("0.32.0", "v0.32"),
    ("0.32.0+cpu", "0.32.0"),
    ("0.11.0+kimi", "0.11"),
    ("1.0c1", "1.0RC1"),
    ("1.0-post1", "1.0.post1"),
    ("0.5.5-cu129-amd64", "0.5.5"),
    ("v0.9.2rc1-910b", "0.9.2rc1"),
    ("nightly", "latest"),
    ("main", ""),
)
NOT_NUMBERS = ("", "nightly", "latest", "0.11.x", "1..2", "0.11.0 ; rm", "0.5-$(rm)", "١.٢", "1" * 200, "v", "-1")
RELEASES = ("0.10.0", "0.11.0", "0.11.2", "0.12.0rc1")

# PEP 440 texts in every spelling, with and without each part.
numbers = st.integers(0, 10**6).map(str)
pep440 = st.tuples(
    st.sampled_from(["", "v", " "]),
    st.lists(numbers, min_size=1, max_size=4).map(".".join),
    st.one_of(st.just(""), st.tuples(st.sampled_from(["a", "b", "rc", "-rc.", ".alpha", "_c"]), numbers).map("".join)),
    st.one_of(st.just(""), numbers.map(".post{}".format), numbers.map("-r{}".format)),
    st.one_of(st.just(""), numbers.map(".dev{}".format)),
    st.sampled_from(["", "+cpu", "+g934a9c3b7", "+kimi.1", "+cu129-x"]),
).map("".join)
texts = st.one_of(pep440, st.text(max_size=60), st.sampled_from([*CHANNELS, *NOT_NUMBERS]))


@pytest.mark.parametrize("versions", ORDERED)
def test_order(versions: tuple[str, ...]) -> None:
    for older, newer in pairwise(versions):
        assert order(older) < order(newer), (older, newer)
        assert since(newer, older)
        assert not since(older, newer)


@pytest.mark.parametrize(("version", "other"), SAME)
def test_same_version(version: str, other: str) -> None:
    assert order(version) == order(other)


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_not_a_number(text: str) -> None:
    assert parse(text) is None
    assert release_of(text) == ""
    assert series(text) is None
    assert not is_final(text)
    assert since(text, "99.0")


def test_parts() -> None:
    assert release_of("v0.20.2rc1") == "0.20.2"
    assert release_of("0.23.0.post1") == "0.23.0"
    assert series("0.11.1rc6.dev211+g934a9c3b7") == (0, 11)
    assert is_final("0.11.0")
    assert is_final("0.11.0.post1")
    assert not is_final("0.11.0rc1")
    assert not is_final("0.11.0.dev3")
    assert since("0.1", "")


@pytest.mark.parametrize("text", ["0.11.0", "0.11.1rc6", "nightly", "latest", "main", "99.0"])
def test_checked_version(text: str) -> None:
    assert checked_version(text) == text
    assert checked_version(f"v{text}" if text not in CHANNELS else text) == text


@pytest.mark.parametrize("text", ["x.y", "newest", "", "0.11.0; rm"])
def test_refused_version(text: str) -> None:
    with pytest.raises(UsageError, match="is not an engine version"):
        checked_version(text)


@pytest.mark.parametrize(
    ("version", "release", "why"),
    [
        (None, "0.12.0rc1", ""),
        ("0.11", "0.11.0", ""),
        ("0.11.0+kimi", "0.11.0", ""),
        ("0.11.1rc6", "0.11.0", "not a release that moonpad knows"),
        ("0.11.0rc2", "0.11.0", "not a release that moonpad knows"),
        ("0.11.0rc2+cu130", "0.11.0", "not a release that moonpad knows"),
        ("0.11.0rc2.dev3", "0.10.0", "not a release that moonpad knows"),
        ("0.11.0rc1", "0.10.0", "not a release that moonpad knows"),
        ("0.9.2", "0.10.0", "older than every release that moonpad knows"),
        ("99.0", "0.12.0rc1", "newer than every release that moonpad knows"),
        ("latest", "0.12.0rc1", "not a version number"),
        ("; rm", "0.12.0rc1", "not a version number"),
    ],
)
def test_nearest_release(version: str | None, release: str, why: str) -> None:
    nearest = nearest_release(RELEASES, version)
    assert (nearest.release, nearest.why) == (release, why)
    assert RELEASES[nearest.at] == release
    assert nearest.exact == (not why)


@given(st.lists(texts, max_size=6))
def test_total_order(versions: list[str]) -> None:
    for version in versions:
        for other in versions:
            key, other_key = order(version), order(other)
            assert (key < other_key) + (key == other_key) + (key > other_key) == 1
            assert since(version, other) == (not other or key >= other_key)
    ordered = sorted(versions, key=order)
    assert all(order(older) <= order(newer) for older, newer in pairwise(ordered))


@given(pep440, pep440)
def test_agrees_with_packaging(text: str, other: str) -> None:
    """Without the local part, which orders nothing here."""
    version, other_version = (Version(written.partition("+")[0]) for written in (text, other))
    assert (order(text) < order(other)) == (version < other_version)
    assert (order(text) == order(other)) == (version == other_version)
    assert release_of(text) == version.base_version


@given(texts)
def test_no_text_raises(text: str) -> None:
    nearest = nearest_release(RELEASES, text)
    assert RELEASES[nearest.at] == nearest.release
    parse(text), series(text), release_of(text), is_final(text)
