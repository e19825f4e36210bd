"""What drawings share: a frame with axes, and labels that do not overlap. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from markupsafe import Markup

from moonpad.report.scales import Scale, tick_label
from moonpad.report.svg import group, line, rect, text, width_of

LETTER: Final = 13.0
"""Height of the text in a drawing; page.css says the same."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The part of a drawing in which data stand: `x` from left to right, `y` from the bottom up."""

    x: Scale
    y: Scale

    def grid_y(self, marks: Sequence[float], labels: Sequence[str]) -> Markup:
        """A thin line and a label at each mark."""
        rows = []
        for mark, label in zip(marks, labels, strict=True):
            place = self.y.at(mark)
            rows.append(line(self.x.start, place, self.x.end, place, "grid"))
            rows.append(text(self.x.start - 8, place + 4, label, "tick", "end"))
        return group(rows, class_="axis axis-y")

    def ticks_x(self, marks: Sequence[float], labels: Sequence[str]) -> Markup:
        """The axis line, and below it a short stroke and a label at each mark; a label that has no room is left out."""
        rows = [line(self.x.start, self.y.start, self.x.end, self.y.start, "axis-line")]
        free = float("-inf")
        for mark, label in zip(marks, labels, strict=True):
            place, half = self.x.at(mark), width_of(label, LETTER) / 2
            rows.append(line(place, self.y.start, place, self.y.start + 5, "axis-line"))
            if place - half >= free:
                rows.append(text(place, self.y.start + 20, label, "tick", "middle"))
                free = place + half + 4
        return group(rows, class_="axis axis-x")

    def titles(self, x_title: str, y_title: str) -> Markup:
        """The one of x below the axis, the one of y above its upper end, where it can be read without turning."""
        middle = (self.x.start + self.x.end) / 2
        return group(
            (
                text(middle, self.y.start + 40, x_title, "axis-title", "middle"),
                text(0, self.y.end - 14, y_title, "axis-title", "start"),
            ),
            class_="titles",
        )


def shaded(left: float, right: float, top: float, bottom: float, class_: str) -> list[Markup]:
    """A stretch of the x axis, with its ground and both edges."""
    edges = [line(at, top, at, bottom, f"{class_}-edge") for at in (left, right)]
    return [rect(left, top, right, bottom, class_), *edges]


def labels_of(marks: Sequence[float]) -> list[str]:
    """Of marks that are equally far apart."""
    step = min((after - before for before, after in pairwise(marks)), default=1.0)
    return [tick_label(mark, step) for mark in marks]


def spread_up(places: Sequence[float], least: float, bottom: float = math.inf) -> list[float]:
    """The same places in the same order, moved up where two are nearer to each other than that; none below `bottom`."""
    moved = [0.0] * len(places)
    free = bottom
    for at in sorted(range(len(places)), key=lambda at: -places[at]):
        moved[at] = min(places[at], free)
        free = moved[at] - least
    return moved


@dataclass(frozen=True, slots=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a label stands: the place of its text, and which end of it stands there."""

    x: float
    y: float
    anchor: str


def place_labels(points: Sequence[tuple[float, float]], labels: Sequence[str], within: Box) -> list[Placed]:
    """Each label beside its point, clear of all points and of the labels before it; if all four sides are taken,
    to the right of it anyway.
    """
    taken = [Box(x - 6, y - 6, x + 6, y + 6) for x, y in points]
    placed: list[Placed] = []
    for (x, y), label in zip(points, labels, strict=True):
        wide = width_of(label, LETTER)
        sides = (
            (Placed(x + 10, y + 4, "start"), x + 9),
            (Placed(x - 10, y + 4, "end"), x - 9 - wide),
            (Placed(x, y - 11, "middle"), x - wide / 2),
            (Placed(x, y + 21, "middle"), x - wide / 2),
        )
        boxes = [(place, Box(left, place.y - 12, left + wide, place.y + 3)) for place, left in sides]
        free = (pair for pair in boxes if _fits(pair[1], within) and not any(pair[1].meets(other) for other in taken))
        chosen, box = next(free, boxes[0])
        placed.append(chosen)
        taken.append(box)
    return placed


def _fits(box: Box, within: Box) -> bool:
    left, right = box.left >= within.left, box.right <= within.right
    return left and right and box.top >= within.top and box.bottom <= within.bottom
