"""A sweep as drawings: throughput and time to first token over the load, and what a user has against what a device
gives. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from moonpad.report.charts import Box, Frame, labels_of, place_labels, shaded, spread_up
from moonpad.report.scales import axis, load_axis
from moonpad.report.svg import group, path, picture, tag, text
from moonpad.stats.pareto import pareto_front

WIDTH, HEIGHT = 460.0, 290.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 78.0, 48.0, 48.0
WIDE, HIGH = 640.0, 370.0


Series = tuple[str, Sequence[tuple[int, float]]]
"""A name, and points of (load, value)."""


def load_chart(
    id_: str, title: str, unit: str, over: str, series: Sequence[Series], knee: tuple[int, int] | None
) -> Markup:
    """Lines over the load, each with its name at its end; between the two loads of `knee` the ground is shaded."""
    loads = sorted({load for _, points in series for load, _ in points})
    x = load_axis(loads, LEFT + 12, WIDTH - RIGHT)
    y, marks = axis(0.0, max(value for _, points in series for _, value in points), HEIGHT - BOTTOM, TOP)
    frame = Frame(x, y)
    ends_x, ends_y = ([scale.at(points[-1][axis_]) for _, points in series] for axis_, scale in enumerate((x, y)))
    described = "; ".join(
        f"{name}: " + ", ".join(f"{value:.1f} at {load}" for load, value in points) for name, points in series
    )
    return picture(
        id_,
        title,
        f"{described}." + (f" The knee lies between {knee[0]} and {knee[1]}." if knee else " There is no knee."),
        WIDTH,
        HEIGHT,
        _knee(frame, knee),
        frame.grid_y(marks, labels_of(marks)),
        frame.ticks_x(loads, [f"{load:,}" for load in loads]),
        frame.titles(over, unit),
        *(_line(frame, number, name, points) for number, (name, points) in enumerate(series)),
        *(
            text(end_x + 10, place_y + 4, name, f"series-name series-name-{number}", "start")
            for number, ((name, _), end_x, place_y) in enumerate(
                zip(series, ends_x, spread_up(ends_y, 16), strict=True)
            )
        ),
    )


def _line(frame: Frame, number: int, name: str, points: Sequence[tuple[int, float]]) -> Markup:
    places = [(frame.x.at(load), frame.y.at(value)) for load, value in points]
    dots = [
        tag(
            "circle",
            tag("title", f"{name} at {load:,}: {value:,.1f}"),
            cx=x,
            cy=y,
            r=4,
            class_=f"point point-{number}",
            data_load=load,
            data_value=f"{value:.3f}",
        )
        for (load, value), (x, y) in zip(points, places, strict=True)
    ]
    return group((path(places, f"series series-{number}", data_name=name), *dots), class_="line")


def _knee(frame: Frame, knee: tuple[int, int] | None) -> Markup:
    if knee is None:
        return Markup("")
    left, right = frame.x.at(knee[0]), frame.x.at(knee[1])
    name = text((left + right) / 2, frame.y.end - 6, "knee", "knee-name", "middle")
    parts = (*shaded(left, right, frame.y.end, frame.y.start, "knee"), name)
    return group(parts, class_="knee-window", data_below=knee[0], data_above=knee[1])


def pareto_chart(points: Sequence[tuple[int, float, float]], over: str) -> Markup:
    """`points`: (load, tokens a second for a user, tokens a second for a device). Those that no other beats in both are
    filled and joined.
    """
    front = pareto_front([(user, device) for _, user, device in points])
    x, x_marks = axis(0.0, max(user for _, user, _ in points) * 1.05, LEFT, WIDE - 24)
    y, y_marks = axis(0.0, max(device for *_, device in points), HIGH - BOTTOM, TOP)
    frame = Frame(x, y)
    places = [(x.at(user), y.at(device)) for _, user, device in points]
    labels = [f"{load:,}" for load, *_ in points]
    spots = place_labels(places, labels, Box(x.start, y.end - 20, x.end + 20, y.start))
    joined = ", ".join(labels[at] for at in front)
    return picture(
        "pareto",
        "Speed for a user against throughput of a device",
        f"Points by {over}; on the Pareto front: {joined}.",
        WIDE,
        HIGH,
        frame.grid_y(y_marks, labels_of(y_marks)),
        frame.ticks_x(x_marks, labels_of(x_marks)),
        frame.titles("tokens a second for one user", "output tokens a second for one device"),
        path([places[at] for at in front], "front", data_loads=" ".join(str(points[at][0]) for at in front)),
        *(
            group(
                (
                    tag("title", f"{over} {load:,}: {user:,.1f} tokens/s a user, {device:,.1f} tokens/s a device"),
                    tag("circle", cx=place[0], cy=place[1], r=5, class_="on-front" if at in front else "off-front"),
                    text(spot.x, spot.y, label, "mark-label", spot.anchor),
                ),
                class_="point-group",
                data_load=load,
                data_user=f"{user:.3f}",
                data_device=f"{device:.3f}",
                data_front="yes" if at in front else "no",
            )
            for at, ((load, user, device), place, spot, label) in enumerate(
                zip(points, places, spots, labels, strict=True)
            )
        ),
    )
