"""Lengths by hand, by their distribution, and what is none."""

from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.lengths import fixed, parse_lengths
from moonpad.values.errors import UsageError


def test_fixed() -> None:
    assert parse_lengths("128") == fixed(128)
    assert fixed(128).draw(3, 0, "input") == (128, 128, 128)


def test_uniform() -> None:
    drawn = parse_lengths("64..66").draw(3000, 0, "input")
    assert set(drawn) == {64, 65, 66}
    assert all(900 < drawn.count(length) < 1100 for length in set(drawn))


def test_lognormal() -> None:
    """Half lie below the median, and e^sigma above it lie 16 %."""
    drawn = parse_lengths("lognormal:512,0.6").draw(20_000, 0, "output")
    assert median(drawn) == pytest.approx(512, rel=0.03)
    assert sum(length > 512 * 1.8221 for length in drawn) / len(drawn) == pytest.approx(0.1587, abs=0.015)
    assert min(drawn) >= 1


def test_a_file() -> None:
    lengths = parse_lengths("@x.txt", ["10", "", " 20 ", "30"])
    drawn = lengths.draw(3000, 0, "input")
    assert set(drawn) == {10, 20, 30}
    assert (lengths.least, lengths.most) == (10, 30)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "-1",
        "1.5",
        "5..3",
        "1..2..3",
        "..",
        "lognormal:",
        "lognormal:5",
        "lognormal:0,1",
        "lognormal:9,0",
        "x",
        "lognormal:nan,1",
        "99999999999",
        "٣",
        "@",
    ],
)
def test_what_is_no_length(text: str) -> None:
    with pytest.raises(UsageError):
        parse_lengths(text)


@pytest.mark.parametrize("lines", [["x"], ["0"], ["1", "2.5"], ["", " "]])
def test_a_file_that_is_none(lines: list[str]) -> None:
    with pytest.raises(UsageError):
        parse_lengths("@x.txt", lines)


@given(st.text(max_size=30))
def test_any_text_is_a_length_or_an_error(text: str) -> None:
    try:
        lengths = parse_lengths(text)
    except UsageError:
        return
    assert all(lengths.least <= length <= lengths.most for length in lengths.draw(20, 1, "input"))


def test_the_same_seed_gives_the_same_and_input_and_output_are_apart() -> None:
    lengths = parse_lengths("1..1000")
    assert lengths.draw(20, 1, "input") == lengths.draw(20, 1, "input")
    assert lengths.draw(20, 1, "input") != lengths.draw(20, 1, "output")
    assert lengths.draw(20, 1, "input") != lengths.draw(20, 2, "input")
    assert lengths.draw(30, 1, "input")[:20] == lengths.draw(20, 1, "input")
