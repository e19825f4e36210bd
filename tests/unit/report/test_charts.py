"""What drawings share: text in them is text, labels do not lie on each other, steps keep their value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from moonpad.report.charts import Box, place_labels
from moonpad.report.svg import path, picture, steps, tag, text, width_of

EVIL = '</svg><script>alert(1)</script>" onload="alert(2)\x00\u202e'


def test_what_is_written_into_a_drawing_is_text() -> None:
    svg = picture("one", EVIL, EVIL, 10, 10, text(1, 2, EVIL, EVIL), tag("g", data_said=EVIL))
    assert "<script" not in svg
    assert '" onload' not in svg
    assert not {"\x00", "\u202e"} & set(svg)
    assert svg.count("&lt;script&gt;") == 5


def test_numbers_are_short_and_nothing_is_left_out_but_none() -> None:
    assert tag("line", x1=1.23456, x2=-0.0001, class_="a b", data_x=None) == Markup(
        '<line x1="1.23" x2="0" class="a b"></line>'
    )
    assert path([(0, 1.5), (2.0, 3)], "c") == Markup('<path d="M0 1.5 L2 3" class="c"></path>')


def test_a_step_keeps_its_value_until_the_next() -> None:
    assert steps([(0, 1), (2, 5), (3, 0)]) == [(0, 1), (2, 1), (2, 5), (3, 5), (3, 0)]
    assert steps([]) == []


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12, unique=True))
def test_labels_that_have_room_lie_on_nothing(cells: list[tuple[int, int]]) -> None:
    points = [(100.0 + 80 * x, 100.0 + 60 * y) for x, y in cells]
    labels = [str(2**place) for place in range(len(points))]
    within = Box(0, 0, 1000, 1000)
    boxes = []
    for spot, label in zip(place_labels(points, labels, within), labels, strict=True):
        wide = width_of(label)
        left = {"start": spot.x, "middle": spot.x - wide / 2, "end": spot.x - wide}[spot.anchor]
        boxes.append(Box(left, spot.y - 10, left + wide, spot.y + 2))
    dots = [Box(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    for at, box in enumerate(boxes):
        assert not any(box.meets(dot) for dot in dots)
        assert not any(box.meets(other) for other in boxes[at + 1 :])


def test_two_points_on_each_other_have_labels_on_two_sides() -> None:
    first, second = place_labels([(100, 100), (101, 100)], ["32", "64"], Box(0, 0, 300, 300))
    assert (first.anchor, second.anchor) == ("start", "end")
