"""Every plan at every load as a drawing: what one user gets against what a device gives. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from moonpad.predict.goals import LoadPoint
from moonpad.report.charts import Box, Frame, labels_of, place_labels
from moonpad.report.scales import axis
from moonpad.report.speed_text import thinned
from moonpad.report.svg import group, path, picture, tag, text

WIDE, HIGH = 640.0, 400.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 24.0, 48.0, 48.0
LABELLED: Final = 12


def front_chart(points: Sequence[LoadPoint], front: Sequence[LoadPoint], names: Sequence[str]) -> Markup:
    """`names` of the plans, by their places. Points on the front are filled and joined; some have their number of
    users beside them."""
    x, x_marks = axis(0.0, max(point.per_user for point in points) * 1.05, LEFT, WIDE - RIGHT)
    y, y_marks = axis(0.0, max(point.per_device for point in points), HIGH - BOTTOM, TOP)
    frame = Frame(x, y)
    labelled = thinned(front, LABELLED)
    labels = [f"{point.prediction.workload.concurrency:,}" for point in labelled]
    places = [(x.at(point.per_user), y.at(point.per_device)) for point in labelled]
    spots = place_labels(places, labels, Box(x.start, y.end - 20, x.end + 20, y.start))
    joined = [(x.at(point.per_user), y.at(point.per_device)) for point in front]
    said = "; ".join(
        f"{names[point.plan]}, {point.prediction.workload.concurrency} users: {point.per_user:.1f} and "
        f"{point.per_device:.1f}"
        for point in labelled
    )
    on_front = set(map(id, front))
    return picture(
        "front",
        "Tokens a second of one user against those of a device",
        f"The front: {said}.",
        WIDE,
        HIGH,
        frame.grid_y(y_marks, labels_of(y_marks)),
        frame.ticks_x(x_marks, labels_of(x_marks)),
        frame.titles("tokens a second for one user", "output tokens a second for one device"),
        *(_point(frame, point, names, on_front=False) for point in points if id(point) not in on_front),
        path(joined, "front", data_points=str(len(front))),
        *(_point(frame, point, names, on_front=True) for point in front),
        *(text(spot.x, spot.y, label, "mark-label", spot.anchor) for spot, label in zip(spots, labels, strict=True)),
    )


def _point(frame: Frame, point: LoadPoint, names: Sequence[str], *, on_front: bool) -> Markup:
    users = point.prediction.workload.concurrency
    said = (
        f"{names[point.plan]}, {users} users: {point.per_user:,.1f} tokens/s a user, {point.per_device:,.1f} a device"
    )
    place = {"cx": frame.x.at(point.per_user), "cy": frame.y.at(point.per_device)}
    dot = tag("circle", **place, r=5 if on_front else 2.5, class_="on-front" if on_front else "off-front")
    return group(
        (tag("title", said), dot),
        class_="point-group",
        data_plan=point.plan + 1,
        data_users=users,
        data_front="yes" if on_front else "no",
    )
