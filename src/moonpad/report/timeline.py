"""A run on one time axis: its requests as bars, below them the server's metrics, tokens and devices. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from markupsafe import Markup

from moonpad.bench.request_data import SLICE_S, RequestData
from moonpad.load.record import RequestRecord
from moonpad.report.charts import LETTER, Frame, labels_of, shaded, spread_up
from moonpad.report.scales import Scale, axis, nice_step, ticks
from moonpad.report.svg import group, line, path, picture, rect, steps, tag, text, width_of

WIDTH: Final = 1080.0
LEFT, RIGHT = 150.0, 84.0
TOP: Final = 40.0
ROWS_HEIGHT: Final = 420.0
ROW: Final = (1.4, 14.0)
"""The height of a row with its gap, at least and at most."""
PANEL: Final = 92.0
GAP: Final = 30.0
LEAST_WAIT: Final = 0.3
"""In units of the drawing: a shorter wait in the client is not drawn."""
SLICES: Final = 150
"""Slices of the tokens' line, at most."""
COLUMNS: Final = 1000
"""Samples that are drawn, at most: of more, the largest of those that fall together."""
PANELS: Final = (
    (("requests", "in the server"), "server", (("running", "running"), ("waiting", "waiting")), None),
    (("KV cache", "in use"), "kv", (("kv_usage", "KV cache"),), 1.0),
    (("output tokens", "a second"), "tokens", (("tokens", "tokens/s"),), None),
    (("devices,", "power (W)"), "power", (("power_w", "all"),), None),
    (("devices,", "busy"), "busy", (("busy", "mean"),), 1.0),
)
"""Title, id, the samples' names with the names of their lines, and where the axis ends if not at the highest value."""
Samples = Sequence[Mapping[str, float]]
Points = Sequence[tuple[float, float]]


def timeline(
    requests: RequestData, samples: Samples, devices: Samples, steady: tuple[float, float] | None
) -> tuple[Markup, float]:
    """The drawing, and the width of a step of the tokens' line, in seconds.

    `samples` of the server, `devices` of all of them together. `steady`: the window in which the load was on, in
    seconds.
    """
    bars, end_s = requests.bars, max(requests.end_s, 1e-3)
    x = Scale(0.0, end_s, LEFT, WIDTH - RIGHT)
    row = min(max(ROWS_HEIGHT / max(1, len(bars)), ROW[0]), ROW[1])
    slice_s, tokens = _tokens_a_second(requests.tokens, end_s)
    series: dict[str, Points] = {"tokens": tokens}
    for rows, names in ((samples, ("running", "waiting", "kv_usage")), (devices, ("power_w", "busy"))):
        series |= {name: _series(rows, name, end_s) for name in names}
    panels = []
    for title, id_, names_and_labels, ceiling in PANELS:
        if lines := [(label, series[name]) for name, label in names_and_labels if series[name]]:
            panels.append((title, id_, lines, ceiling))
    tops = [TOP + row * len(bars) + GAP + at * (PANEL + GAP) for at in range(len(panels))]
    bottom = tops[-1] + PANEL
    marks = ticks(0.0, end_s, 10)
    failed = sum(not bar.ok for bar in bars)
    named = ", ".join(" ".join(title) for title, *_ in panels)
    svg = picture(
        "timeline",
        "Time line of the run",
        f"{len(bars)} of {requests.count} requests as bars, {failed} of them failed, over {end_s:.2f} s; "
        f"beneath on the same axis: {named}.",
        WIDTH,
        bottom + 46,
        _hatch(),
        _window(x, steady, bottom),
        group((line(x.at(mark), TOP, x.at(mark), bottom, "grid") for mark in marks), class_="axis"),
        _keys(bars, x),
        group((_bar(bar, x, TOP + row * at, row) for at, bar in enumerate(bars)), class_="requests"),
        *(_panel(x, top, *panel) for panel, top in zip(panels, tops, strict=True)),
        Frame(x, Scale(0, 1, bottom, bottom - PANEL)).ticks_x(marks, labels_of(marks)),
        text((LEFT + WIDTH - RIGHT) / 2, bottom + 40, "time since the run began (s)", "axis-title", "middle"),
    )
    return svg, slice_s


def _bar(bar: RequestRecord, x: Scale, top: float, row: float) -> Markup:
    """Its parts differ in height too, a failed one in pattern and mark: colour alone tells nothing."""
    height, middle = row * 0.8, top + row / 2
    due, started, ended = x.at(bar.scheduled_s), x.at(bar.started_s), x.at(bar.ended_s)
    parts = [tag("title", _tooltip(bar))]
    if started - due > LEAST_WAIT:
        parts.append(line(due, middle, started, middle, "bar-queued"))
    if bar.failure:
        parts.append(_part(started, ended, middle, height, "bar-failed"))
        parts.append(_cross(ended, middle, max(3.0, height / 2)))
    else:
        first = ended if bar.first_token_s is None else x.at(bar.first_token_s)
        parts.append(_part(started, first, middle, height * 0.5, "bar-prefill"))
        parts.append(_part(first, ended, middle, height, "bar-decode"))
    return group(
        parts,
        class_="request failed" if bar.failure else "request",
        data_index=bar.index,
        data_scheduled_s=f"{bar.scheduled_s:.4f}",
        data_started_s=f"{bar.started_s:.4f}",
        data_first_token_s=None if bar.first_token_s is None else f"{bar.first_token_s:.4f}",
        data_ended_s=f"{bar.ended_s:.4f}",
        data_failure=bar.failure.label if bar.failure else None,
    )


def _keys(bars: Sequence[RequestRecord], x: Scale) -> Markup:
    """What the parts of a bar are, as far as they are drawn. To their left, the name of the rows."""
    kinds = []
    if any(x.at(bar.started_s) - x.at(bar.scheduled_s) > LEAST_WAIT for bar in bars):
        kinds.append(("bar-queued", "waiting in the client"))
    if any(bar.ok for bar in bars):
        kinds += [("bar-prefill", "until the first token"), ("bar-decode", "from the first token to the last")]
    if any(not bar.ok for bar in bars):
        kinds.append(("bar-failed", "failed"))
    parts, left, y = _title(("requests,", "by arrival"), TOP + 16), LEFT, 14.0
    for class_, label in kinds:
        if class_ == "bar-queued":
            parts.append(line(left, y, left + 26, y, class_))
        else:
            parts.append(_part(left, left + 26, y, 6 if class_ == "bar-prefill" else 12, class_))
        if class_ == "bar-failed":
            parts.append(_cross(left + 26, y, 6))
        parts.append(text(left + 40, y + 4, label, "key"))
        left += 40 + width_of(label, LETTER) + 30
    return group(parts, class_="keys")


def _panel(
    x: Scale,
    top: float,
    title: tuple[str, str],
    id_: str,
    lines: Sequence[tuple[str, Points]],
    ceiling: float | None,
) -> Markup:
    """Lines on an axis of their own from zero, each with its name at its end."""
    if ceiling is None:
        highest = max(value for _, points in lines for _, value in points)
        y, marks = axis(0.0, max(highest, 1e-9), top + PANEL, top, 3)
        labels = labels_of(marks)
    else:
        y, marks = Scale(0.0, ceiling, top + PANEL, top), [0.0, ceiling / 2, ceiling]
        labels = [f"{mark:.0%}" for mark in marks]
    parts = [Frame(x, y).grid_y(marks, labels), *_title(title, top + PANEL / 2)]
    ends = spread_up([y.at(points[-1][1]) for _, points in lines], LETTER + 2, y.start)
    for number, ((name, points), end) in enumerate(zip(lines, ends, strict=True)):
        corners = steps([(x.at(at), y.at(value)) for at, value in points])
        parts.append(path(corners, f"series series-{number}", data_name=name))
        parts.append(text(x.end + 8, end + 4, name, f"series-name series-name-{number}", "start"))
    return group(parts, class_="panel", data_panel=id_)


def _series(samples: Samples, name: str, end_s: float) -> Points:
    """To the run's end: a value holds until the next one."""
    points = [(row["at_s"], row[name]) for row in samples if name in row and 0 <= row["at_s"] <= end_s]
    if len(points) > COLUMNS:
        columns: dict[int, tuple[float, float]] = {}
        for at_s, value in points:
            column = int(at_s / end_s * COLUMNS)
            if column not in columns or columns[column][1] < value:
                columns[column] = (at_s, value)
        points = list(columns.values())
    return [*points, (end_s, points[-1][1])] if points else []


def _tokens_a_second(tokens: Mapping[int, float], end_s: float) -> tuple[float, Points]:
    """The width of a slice, and (its begin, tokens a second in it). What remains at the end is a slice of its own, or
    belongs to the one before where it is less than half as long.
    """
    width_s = max(SLICE_S, nice_step(end_s, SLICES))
    per_slice, count = round(width_s / SLICE_S), max(1, round(end_s / width_s))
    slices = [0.0] * count
    for place, number in tokens.items():
        slices[min(max(0, place // per_slice), count - 1)] += number
    lengths_s = [*([width_s] * (count - 1)), end_s - (count - 1) * width_s]
    rates = [number / length_s for number, length_s in zip(slices, lengths_s, strict=True)]
    return width_s, [*((at * width_s, rate) for at, rate in enumerate(rates)), (end_s, rates[-1])]


def _window(x: Scale, steady: tuple[float, float] | None, bottom: float) -> Markup:
    """The steady window, behind all else, with its name in the strip below the bars' keys."""
    if steady is None:
        return Markup("")
    from_s, to_s = steady
    title = tag("title", f"steady from {from_s:.2f} s to {to_s:.2f} s")
    ground = shaded(x.at(from_s), x.at(to_s), TOP - 10, bottom, "steady")
    return group((title, *ground), class_="steady-window", data_from_s=f"{from_s:.4f}", data_to_s=f"{to_s:.4f}")


def _hatch() -> Markup:
    """The pattern of failed requests: colour alone must not mark them."""
    stripe = tag("path", d="M0 5 L5 0", class_="hatch-stripe")
    ground = tag("rect", width=5, height=5, class_="hatch-ground")
    return tag("defs", tag("pattern", ground, stripe, id="hatch", width=5, height=5, patternUnits="userSpaceOnUse"))


def _title(lines: tuple[str, str], middle: float) -> list[Markup]:
    """Two lines to the left of an axis."""
    return [text(0, middle + shift, words, "axis-title", "start") for shift, words in zip((-4, 13), lines, strict=True)]


def _part(left: float, right: float, middle: float, height: float, class_: str) -> Markup:
    fill = "url(#hatch)" if class_ == "bar-failed" else None
    return rect(left, middle - height / 2, max(right, left + 0.3), middle + height / 2, class_, fill=fill)


def _cross(x: float, y: float, half: float) -> Markup:
    d = f"M{x - half:.2f} {y - half:.2f} L{x + half:.2f} {y + half:.2f} M{x - half:.2f} {y + half:.2f} L{x + half:.2f} "
    return tag("path", d=f"{d}{y - half:.2f}", class_="cross")


def _tooltip(bar: RequestRecord) -> str:
    due_s = bar.scheduled_s
    first = "no token" if bar.first_token_s is None else f"first token after {bar.first_token_s - due_s:.3f} s"
    how = f"failed: {bar.failure.label}" if bar.failure else "ended"
    return f"request {bar.index}: due at {due_s:.3f} s, {first}, {how} after {bar.ended_s - due_s:.3f} s"
