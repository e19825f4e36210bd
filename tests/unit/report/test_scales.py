"""Scales and their ticks."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from moonpad.report.scales import Scale, axis, load_axis, nice_step, tick_label, ticks

sizes = st.floats(1e-6, 1e9)


@given(sizes, st.integers(2, 12))
def test_a_step_is_one_two_or_five_of_a_power_of_ten(span: float, count: int) -> None:
    step = nice_step(span, count)
    first_digit = step / 10 ** math.floor(math.log10(step) + 1e-9)
    assert first_digit == pytest.approx(1) or first_digit == pytest.approx(2) or first_digit == pytest.approx(5)
    assert span / step <= count * (1 + 1e-6)
    assert span / step > count / 2.6  # not a coarser one than is needed


@given(st.floats(0, 1e6), sizes)
def test_an_axis_holds_its_values_between_two_ticks(low: float, span: float) -> None:
    assume(span > low * 1e-6)
    scale, marks = axis(low, low + span, 50.0, 400.0)
    step = marks[1] - marks[0]
    assert scale.low <= low * (1 + 1e-9)
    assert low + span <= scale.high * (1 + 1e-9)
    assert scale.low > low - step * 1.001
    assert scale.high < low + span + step * 1.001
    assert 3 <= len(marks) <= 9
    assert len({tick_label(mark, step) for mark in marks}) == len(marks)
    assert (scale.at(marks[0]), scale.at(marks[-1])) == pytest.approx((50.0, 400.0))


@given(st.floats(0, 1e6), sizes)
def test_ticks_lie_within(low: float, span: float) -> None:
    assume(span > low * 1e-6)
    step = nice_step(span, 5)
    marks = ticks(low, low + span)
    assert 2 <= len(marks) <= 6
    for mark in marks:
        assert low - step * 1e-6 <= mark <= low + span + step * 1e-6
        assert mark / step == pytest.approx(round(mark / step), abs=1e-6)


def test_places_are_in_proportion() -> None:
    scale = Scale(10.0, 20.0, 100.0, 300.0)
    assert [scale.at(value) for value in (10.0, 15.0, 20.0, 25.0, 0.0)] == [100.0, 200.0, 300.0, 300.0, 100.0]
    upwards = Scale(0.0, 1.0, 200.0, 0.0)
    assert upwards.at(0.25) == 150.0


def test_loads_that_double_are_equally_far_apart() -> None:
    scale = load_axis([1, 2, 4, 8], 0.0, 300.0)
    assert [round(scale.at(load), 6) for load in (1, 2, 4, 8)] == [0.0, 100.0, 200.0, 300.0]
    assert load_axis([16], 0.0, 300.0).at(16) == pytest.approx(150.0)


@pytest.mark.parametrize(
    ("value", "step", "label"), [(1200.0, 200.0, "1,200"), (0.2, 0.2, "0.2"), (0.015, 0.005, "0.015")]
)
def test_labels_have_the_digits_of_the_step(value: float, step: float, label: str) -> None:
    assert tick_label(value, step) == label


def test_equal_values_have_room() -> None:
    for value in (0.0, 5.0):
        scale, marks = axis(value, value, 0.0, 1.0)
        assert scale.low <= value < scale.high
        assert len(marks) >= 3
