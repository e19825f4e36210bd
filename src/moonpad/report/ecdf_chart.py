"""One latency as a cumulative distribution. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final

from markupsafe import Markup

from moonpad.report.charts import Frame, labels_of
from moonpad.report.scales import Scale, axis
from moonpad.report.svg import group, line, path, picture, steps, tag, text, width_of

WIDTH: Final = 460.0
HEIGHT: Final = 260.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 28.0, 44.0, 46.0
FINEST: Final = 0.5
"""In units of the drawing: points closer than this are drawn as one."""
TAIL: Final = 2.0
PAST_P99: Final = 1.15
"""Where the largest value is more than `TAIL` times the P99, the axis ends at this multiple of the P99."""
NEAR_ZERO: Final = 0.5
"""An axis begins at zero where the smallest value is below this share of the largest."""
ROUNDING: Final = 1e-9
"""A value beyond the end by less than this share counts as the end: differences of instants are not exact."""
LEAST_SPAN: Final = 0.2
"""Smallest span of the axis, as a share of its end, so that tiny differences do not fill the chart."""

Counted = Sequence[tuple[float, int]]
"""Values in rising order, and how often each is there."""


def ecdf_chart(name: str, what: str, values_ms: Counted, marks_ms: Mapping[str, float]) -> tuple[Markup, str]:
    """The drawing, and what lies right of its axis, "" if nothing.

    `marks_ms`: the percentiles that are drawn, by their names (P50, P90, P99). There is at least one value.
    """
    smallest, largest = values_ms[0][0], values_ms[-1][0]
    scale, x_marks = _axis(smallest, largest, marks_ms)
    frame = Frame(scale, Scale(0.0, 1.0, HEIGHT - BOTTOM, TOP))
    count = sum(times for _, times in values_ms)
    beyond = sum(times for value, times in values_ms if value > scale.high * (1 + ROUNDING))
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    percentiles = ", ".join(f"{label} {value:.2f} ms" for label, value in marks_ms.items())
    svg = picture(
        f"ecdf-{name.lower()}",
        f"{name}: cumulative distribution",
        f"{what}; {count} values from {smallest:.2f} ms to {largest:.2f} ms; {percentiles}.",
        WIDTH,
        HEIGHT,
        frame.grid_y(shares, [f"{share:.0%}" for share in shares]),
        frame.ticks_x(x_marks, labels_of(x_marks)),
        frame.titles(f"{name} (ms)", ""),
        path(_curve(frame, values_ms), "curve", data_name=name, data_values=count),
        *(_mark(frame, label, value) for label, value in marks_ms.items()),
    )
    note = f"{beyond} of {count:,} values lie beyond the end of the axis; the largest is {largest:,.2f} ms."
    return svg, note if beyond else ""


def _axis(smallest: float, largest: float, marks_ms: Mapping[str, float]) -> tuple[Scale, list[float]]:
    tail = max(marks_ms.values(), default=largest)
    high = PAST_P99 * tail if largest > TAIL * tail > 0 else largest
    low = 0.0 if smallest < NEAR_ZERO * high else smallest
    if high - low < LEAST_SPAN * high:
        low, high = high * (1 - LEAST_SPAN), high * (1 + LEAST_SPAN / 4)
    return axis(low, high, LEFT, WIDTH - RIGHT)


def _curve(frame: Frame, values_ms: Counted) -> list[tuple[float, float]]:
    inside = [(frame.x.at(value), frame.y.at(share)) for value, share in ecdf(values_ms) if value <= frame.x.high]
    points = thinned(inside, FINEST)
    if not points:
        return []
    return steps([(points[0][0], frame.y.start), *points, (frame.x.end, points[-1][1])])


def _mark(frame: Frame, label: str, value: float) -> Markup:
    """A dot on the curve, a line down to the axis, and its label beside the curve, where there is room."""
    share = float(label.removeprefix("P")) / 100
    x, y = frame.x.at(value), frame.y.at(share)
    caption = f"{label} {value:,.0f}" if value >= 1000 else f"{label} {value:.3g}"
    wide = width_of(caption)
    if share > 0.95:  # too near to the upper end: above it
        place = min(max(x, frame.x.start + wide / 2), frame.x.end - wide / 2)
        words = text(place, frame.y.end - 9, caption, "mark-label", "middle")
    elif x + wide + 12 < frame.x.end:
        words = text(x + 8, y + 14, caption, "mark-label", "start")
    else:
        words = text(x - 8, y - 5, caption, "mark-label", "end")
    return group(
        (
            tag("title", f"{label}: {value:.2f} ms"),
            line(x, y, x, frame.y.start, "drop"),
            tag("circle", cx=x, cy=y, r=4.5, class_="dot"),
            words,
        ),
        class_="mark",
        data_percentile=label,
        data_ms=f"{value:.3f}",
    )


def ecdf(counted: Counted) -> list[tuple[float, float]]:
    """At each value, the share of all values that are at most as large."""
    cumulative = list(accumulate(count for _, count in counted))
    return [(value, total / cumulative[-1]) for (value, _), total in zip(counted, cumulative, strict=True)]


def thinned(points: Iterable[tuple[float, float]], width: float) -> list[tuple[float, float]]:
    """The last point of each group of points within `width` of each other on x, so that the drawn curve is never
    further off than that. `width` 0 keeps all points.
    """
    thin: list[tuple[float, float]] = []
    begun = 0.0
    for x, y in points:
        if thin and x - begun < width:
            thin[-1] = (x, y)
        else:
            thin.append((x, y))
            begun = x
    return thin
