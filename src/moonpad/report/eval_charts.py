"""The drawings of an evaluation: accuracies with their intervals, and the lengths of the answers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from moonpad.report.charts import Frame, labels_of
from moonpad.report.scales import Scale, axis, nice_step
from moonpad.report.svg import group, line, picture, rect, tag, text, width_of

WIDTH: Final = 460.0
ROW: Final = 34.0
TOP, BOTTOM, RIGHT = 18.0, 46.0, 28.0
HEIGHT: Final = 260.0
BINS: Final = 16


@dataclass(frozen=True, slots=True)
class Bar:
    """One accuracy: its share and the ends of its interval, from 0 to 1. `ours`: measured here."""

    label: str
    value: float
    low: float
    high: float
    ours: bool


def accuracy_chart(bars: Sequence[Bar]) -> Markup:
    """Each accuracy as a point with its interval."""
    left = 14 + max(width_of(bar.label) for bar in bars)
    left = min(left, WIDTH / 2)
    bottom = TOP + ROW * len(bars)
    lowest, highest = min(bar.low for bar in bars), max(bar.high for bar in bars)
    scale, marks = axis(100 * lowest, 100 * highest, left, WIDTH - RIGHT, 5)
    frame = Frame(scale, Scale(0.0, 1.0, bottom, TOP))
    rows = []
    for place, bar in enumerate(bars):
        y = TOP + ROW * (place + 0.5)
        class_ = "interval-ours" if bar.ours else "interval-theirs"
        low, value, high = (scale.at(100 * share) for share in (bar.low, bar.value, bar.high))
        rows.append(text(left - 10, y + 4, bar.label, "tick", "end"))
        rows.append(line(low, y, high, y, class_, data_value=f"{bar.value:.4f}"))
        rows.append(tag("circle", cx=value, cy=y, r=4.5, class_=f"{class_}-point"))
    figures = "; ".join(f"{bar.label} {100 * bar.value:.1f} %" for bar in bars)
    return picture(
        "accuracies",
        "Accuracy with its 95 % interval",
        figures,
        WIDTH,
        bottom + BOTTOM,
        frame.ticks_x(marks, labels_of(marks)),
        group(rows),
        frame.titles("% right", ""),
    )


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of the answers, by what became of them."""

    right: Sequence[int]
    wrong: Sequence[int]
    cut: Sequence[int]

    @property
    def all(self) -> list[int]:
        return [*self.right, *self.wrong, *self.cut]


def lengths_chart(lengths: Lengths) -> Markup:
    """How many answers have so many tokens: right ones below, wrong ones on them, cut ones on top."""
    longest = max(lengths.all)
    step = max(1.0, nice_step(max(1, longest), BINS))
    count = int(longest // step) + 1
    bins = [[0] * count for _ in range(3)]
    for row, values in zip(bins, (lengths.right, lengths.wrong, lengths.cut), strict=True):
        for tokens in values:
            row[int(tokens // step)] += 1
    highest = max(sum(column) for column in zip(*bins, strict=True))
    y_scale, y_marks = axis(0, highest, HEIGHT - BOTTOM, 44.0, 5)
    frame = Frame(Scale(0.0, step * count, 52.0, WIDTH - RIGHT), y_scale)
    x_marks = [step * place for place in range(0, count + 1, max(1, count // 5))]
    bars = []
    for place in range(count):
        base = 0
        for row, class_ in zip(bins, ("length-right", "length-wrong", "length-cut"), strict=True):
            if row[place]:
                x1, x2 = frame.x.at(step * place) + 0.75, frame.x.at(step * (place + 1)) - 0.75
                bars.append(rect(x1, y_scale.at(base + row[place]), x2, y_scale.at(base), class_))
                base += row[place]
    description = f"{len(lengths.right)} right, {len(lengths.wrong)} wrong, {len(lengths.cut)} cut; longest {longest}"
    return picture(
        "lengths",
        "Tokens of the answers",
        description,
        WIDTH,
        HEIGHT,
        frame.grid_y(y_marks, labels_of(y_marks)),
        frame.ticks_x(x_marks, labels_of(x_marks) if len(x_marks) > 1 else [f"{mark:,.0f}" for mark in x_marks]),
        group(bars),
        frame.titles("tokens of an answer", "answers"),
    )
