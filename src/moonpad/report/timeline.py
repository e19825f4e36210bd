"""A run on one time axis: its requests as bars, below them the server's metrics, tokens and devices. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from moonpad.bench.request_data import SLICE_S, Bar, RequestData
from moonpad.report.charts import LETTER, Frame, labels_of, spread_up
from moonpad.report.scales import Scale, axis, nice_step, ticks
from moonpad.report.svg import group, line, path, picture, rect, steps, tag, text, width_of

WIDTH: Final = 1080.0
LEFT, RIGHT = 150.0, 84.0
ROWS_HEIGHT: Final = 420.0
ROW: Final = (1.4, 14.0)
"""The height of a row with its gap, at least and at most."""
PANEL: Final = 92.0
GAP: Final = 30.0
SLICES: Final = 150
"""Slices of the tokens' line, at most."""
COLUMNS: Final = 1000
"""Samples that are drawn, at most: of more, the largest of those that fall together."""
Samples = Sequence[Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Timeline:
    """`slice_s`: the width of a step of the tokens' line. `failed`: failed requests among those that are drawn."""

    svg: Markup
    drawn: int
    failed: int
    slice_s: float


def timeline(requests: RequestData, samples: Samples, devices: Samples, steady: tuple[float, float] | None) -> Timeline:
    """`samples` of the server, `devices` of all of them together. `steady`: the window in which the load was on, in
    seconds.
    """
    end_s = max(requests.end_s, 1e-3)
    x = Scale(0.0, end_s, LEFT, WIDTH - RIGHT)
    rows = _Rows(requests.bars, x)
    slice_s, tokens = _tokens_a_second(requests.tokens, end_s)
    panels = [
        *_server_panels(samples, end_s),
        _Panel(("output tokens", "a second"), "tokens", (("tokens/s", tokens),)),
        *_device_panels(devices, end_s),
    ]
    tops = [rows.bottom + GAP + at * (PANEL + GAP) for at in range(len(panels))]
    bottom = tops[-1] + PANEL
    marks = ticks(0.0, end_s, 10)
    failed = sum(bool(bar.failure) for bar in requests.bars)
    named = ", ".join(" ".join(panel.title) for panel in panels)
    svg = picture(
        "timeline",
        "Time line of the run",
        f"{len(requests.bars)} of {requests.count} requests as bars, {failed} of them failed, over {end_s:.2f} s; "
        f"beneath on the same axis: {named}.",
        WIDTH,
        bottom + 46,
        _hatch(),
        _window(x, steady, rows.top, bottom),
        group((line(x.at(mark), rows.top, x.at(mark), bottom, "grid") for mark in marks), class_="axis"),
        rows.keys(),
        rows.drawn(),
        *(panel.drawn(x, top) for panel, top in zip(panels, tops, strict=True)),
        Frame(x, Scale(0, 1, bottom, bottom - PANEL)).ticks_x(marks, labels_of(marks)),
        text((LEFT + WIDTH - RIGHT) / 2, bottom + 40, "time since the run began (s)", "axis-title", "middle"),
    )
    return Timeline(svg, len(requests.bars), failed, slice_s)


@dataclass(frozen=True, slots=True)
class _Rows:
    """A bar a request, from the first that was due down to the last. The three parts differ in height too, and a failed
    request in pattern and mark: nothing is told by colour alone.
    """

    bars: Sequence[Bar]
    x: Scale
    top: float = 40.0

    @property
    def row(self) -> float:
        return min(max(ROWS_HEIGHT / max(1, len(self.bars)), ROW[0]), ROW[1])

    @property
    def bottom(self) -> float:
        return self.top + self.row * len(self.bars)

    def drawn(self) -> Markup:
        return group((self._bar(bar, self.top + self.row * at) for at, bar in enumerate(self.bars)), class_="requests")

    def _bar(self, bar: Bar, top: float) -> Markup:
        x, height = self.x.at, self.row * 0.8
        middle = top + self.row / 2
        first_s = bar.ended_s if bar.first_token_s is None else bar.first_token_s
        parts = [tag("title", _tooltip(bar))]
        if x(bar.started_s) - x(bar.scheduled_s) > 0.3:
            parts.append(line(x(bar.scheduled_s), middle, x(bar.started_s), middle, "bar-queued"))
        if bar.failure:
            parts.append(_part(x(bar.started_s), x(bar.ended_s), middle, height, "bar-failed"))
            parts.append(_cross(x(bar.ended_s), middle, max(3.0, height / 2)))
        else:
            parts.append(_part(x(bar.started_s), x(first_s), middle, height * 0.5, "bar-prefill"))
            parts.append(_part(x(first_s), x(bar.ended_s), middle, height, "bar-decode"))
        return group(
            parts,
            class_="request failed" if bar.failure else "request",
            data_index=bar.index,
            data_scheduled_s=f"{bar.scheduled_s:.4f}",
            data_started_s=f"{bar.started_s:.4f}",
            data_first_token_s=None if bar.first_token_s is None else f"{bar.first_token_s:.4f}",
            data_ended_s=f"{bar.ended_s:.4f}",
            data_failure=bar.failure or None,
        )

    def keys(self) -> Markup:
        """What the parts of a bar are: those that there are. Above them, the name of the rows."""
        queued = any(self.x.at(bar.started_s) - self.x.at(bar.scheduled_s) > 0.3 for bar in self.bars)
        kinds = [("bar-queued", "waiting in the client")] if queued else []
        if any(not bar.failure for bar in self.bars):
            kinds += [("bar-prefill", "until the first token"), ("bar-decode", "from the first token to the last")]
        if any(bar.failure for bar in self.bars):
            kinds.append(("bar-failed", "failed"))
        parts, x, y = _title(("requests,", "by arrival"), self.top + 16), LEFT, 14.0
        for class_, label in kinds:
            if class_ == "bar-queued":
                parts.append(line(x, y, x + 26, y, class_))
            else:
                parts.append(_part(x, x + 26, y, 6 if class_ == "bar-prefill" else 12, class_))
            if class_ == "bar-failed":
                parts.append(_cross(x + 26, y, 6))
            parts.append(text(x + 40, y + 4, label, "key"))
            x += 40 + width_of(label, LETTER) + 30
        return group(parts, class_="keys")


@dataclass(frozen=True, slots=True)
class _Panel:
    """Lines on an axis of their own from zero, each with its name at its end. `ceiling`: the axis' end, where it has
    one by itself.
    """

    title: tuple[str, str]
    name: str
    lines: Sequence[tuple[str, Sequence[tuple[float, float]]]]
    ceiling: float | None = None

    def drawn(self, x: Scale, top: float) -> Markup:
        highest = max((value for _, points in self.lines for _, value in points), default=0.0)
        if self.ceiling is None:
            y, marks = axis(0.0, max(highest, 1e-9), top + PANEL, top, 3)
            labels = labels_of(marks)
        else:
            y, marks = Scale(0.0, self.ceiling, top + PANEL, top), [0.0, self.ceiling / 2, self.ceiling]
            labels = [f"{mark:.0%}" for mark in marks]
        parts = [Frame(x, y).grid_y(marks, labels), *_title(self.title, top + PANEL / 2)]
        ends = spread_up([y.at(points[-1][1]) for _, points in self.lines], LETTER + 2, y.start)
        for number, ((name, points), end) in enumerate(zip(self.lines, ends, strict=True)):
            class_ = f"series series-{number}"
            parts.append(path(steps([(x.at(at), y.at(value)) for at, value in points]), class_, data_name=name))
            parts.append(text(x.end + 8, end + 4, name, f"series-name series-name-{number}", "start"))
        return group(parts, class_="panel", data_panel=self.name)


def _server_panels(samples: Samples, end_s: float) -> list[_Panel]:
    series = {name: _series(samples, name, end_s) for name in ("running", "waiting", "kv_usage")}
    counts = [(name, series[name]) for name in ("running", "waiting") if series[name]]
    panels = [_Panel(("requests", "in the server"), "server", counts)] if counts else []
    if series["kv_usage"]:
        panels.append(_Panel(("KV cache", "in use"), "kv", (("KV cache", series["kv_usage"]),), 1.0))
    return panels


def _device_panels(samples: Samples, end_s: float) -> list[_Panel]:
    power, busy = (_series(samples, name, end_s) for name in ("power_w", "busy"))
    panels = [_Panel(("devices,", "power (W)"), "power", (("all", power),))] if power else []
    if busy:
        panels.append(_Panel(("devices,", "busy"), "busy", (("mean", busy),), 1.0))
    return panels


def _series(samples: Samples, name: str, end_s: float) -> list[tuple[float, float]]:
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


def _tokens_a_second(tokens: Mapping[int, float], end_s: float) -> tuple[float, list[tuple[float, float]]]:
    """The width of a slice, and (its begin, tokens a second in it). What remains at the end is a slice of its own, or
    belongs to the one before where it is less than half as long.
    """
    width_s = max(SLICE_S, nice_step(end_s, SLICES))
    many, count = round(width_s / SLICE_S), max(1, round(end_s / width_s))
    slices = [0.0] * count
    for place, number in tokens.items():
        slices[min(max(0, place // many), count - 1)] += number
    lengths_s = [*([width_s] * (count - 1)), end_s - (count - 1) * width_s]
    rates = [number / length_s for number, length_s in zip(slices, lengths_s, strict=True)]
    return width_s, [*((at * width_s, rate) for at, rate in enumerate(rates)), (end_s, rates[-1])]


def _window(x: Scale, steady: tuple[float, float] | None, top: float, bottom: float) -> Markup:
    """The steady window, behind all else, with its name in the strip below the bars' keys."""
    if steady is None:
        return Markup("")
    left, right = x.at(steady[0]), x.at(steady[1])
    parts = [rect(left, top - 10, right, bottom, "steady"), line(left, top - 10, left, bottom, "steady-edge")]
    parts.append(line(right, top - 10, right, bottom, "steady-edge"))
    title = tag("title", f"steady from {steady[0]:.2f} s to {steady[1]:.2f} s")
    return group((title, *parts), class_="steady-window", data_from_s=f"{steady[0]:.4f}", data_to_s=f"{steady[1]:.4f}")


def _hatch() -> Markup:
    """Of failed requests, which colour alone must not mark."""
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


def _tooltip(bar: Bar) -> str:
    due_s = bar.scheduled_s
    first = "no token" if bar.first_token_s is None else f"first token after {bar.first_token_s - due_s:.3f} s"
    how = f"failed: {bar.failure}" if bar.failure else "ended"
    return f"request {bar.index}: due at {due_s:.3f} s, {first}, {how} after {bar.ended_s - due_s:.3f} s"
