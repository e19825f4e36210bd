"""A tune as a page: the front, what each knob brought, what was left out and why. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from moonpad.report.charts import LETTER, Frame, labels_of
from moonpad.report.html_page import page
from moonpad.report.scales import axis
from moonpad.report.svg import group, line, path, picture, tag, text, width_of
from moonpad.report.tune_table import figure_cells, row_cells
from moonpad.stats.pareto import pareto_front
from moonpad.tune.candidate import DEFAULT
from moonpad.tune.outcome import KnobEffect, Outcome, Row, ratio_words
from moonpad.values.units import duration

WIDE, HIGH = 640.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 24.0, 48.0, 48.0
BAR: Final = 26.0
WIDER: Final = 1.2
"""Underscores and signs are wider than the letters that a label's width is reckoned by."""
LONGEST: Final = 44
"""Characters of a change beside its bar; a longer one is named by its knob."""


def tune_page(about: Mapping[str, Any], outcome: Outcome, effects: Sequence[KnobEffect]) -> str:
    """The HTML; `about` is what stands in tune.json."""
    best = outcome.best
    tiles: list[tuple[str, str, str]] = [("standing", outcome.standing, "")]
    if best is not None and best.ratio is not None:
        tiles.append(("best against the default", ratio_words(best.ratio), best.candidate.id))
    if outcome.default_worth is not None:
        tiles.append(("the default", f"{outcome.default_worth:.4g} {outcome.unit}", ""))
    tiles.append(("measured", f"{outcome.measurements} visits", duration(outcome.spent_s)))
    return page(
        "tune.html",
        model=about.get("model", ""),
        engine=f"{about.get('engine', '')} {about.get('engine_version', '')}".strip(),
        cluster=about.get("cluster", ""),
        load=about.get("load_words", ""),
        sentences=outcome.sentences,
        tiles=tiles,
        chart=front_chart(outcome),
        effects_chart=effects_chart(effects),
        effects=[(e.title, e.value, ratio_words(e.ratio), "yes" if e.in_winner else "", e.why) for e in effects],
        heads=("change", "against the default", "stage", "TTFT ms", "TPOT ms", "tokens/s", "predicted", "why not"),
        rows=[(row.candidate.id, *row_cells(row)[1:], _predicted(row), row.because) for row in outcome.rows],
        left_out=[(candidate.id, because) for candidate, because in outcome.left_out],
    )


def _predicted(row: Row) -> str:
    return "–" if row.predicted is None else f"× {row.predicted:.2f}"


def front_chart(outcome: Outcome) -> Markup | None:
    """What one user has against what all have; None where fewer than two were measured."""
    figures = [(row.candidate.id, row.figures) for row in outcome.rows if not row.because]
    figures.append((DEFAULT, outcome.default_figures))
    able = [(name, values, point) for name, values in figures if (point := _point(values)) is not None]
    points = [point for _, _, point in able]
    if len(points) < 2:
        return None
    x, x_marks = axis(0.0, max(point[0] for point in points) * 1.05, LEFT, WIDE - RIGHT)
    y, y_marks = axis(0.0, max(point[1] for point in points), HIGH - BOTTOM, TOP)
    frame = Frame(x, y)
    front = set(pareto_front(points))
    joined = sorted(points[at] for at in front)
    dots = []
    for place, (name, values, point) in enumerate(able):
        ttft, tpot, rate = figure_cells(values)
        said = f"{name}: TTFT {ttft} ms, TPOT {tpot} ms, {rate} tokens/s"
        on = place in front
        dot = tag(
            "circle", cx=x.at(point[0]), cy=y.at(point[1]), r=5 if on else 3, class_="on-front" if on else "off-front"
        )
        if name == DEFAULT:
            dots.append(text(x.at(point[0]) + 8, y.at(point[1]) + 4, name, "mark-label", "start"))
        dots.append(group((tag("title", said), dot), class_="point-group", data_front="yes" if on else "no"))
    return picture(
        "front",
        "Tokens a second of one user against those of all",
        f"{len(points)} settings, {len(front)} of them on the front.",
        WIDE,
        HIGH,
        frame.grid_y(y_marks, labels_of(y_marks)),
        frame.ticks_x(x_marks, labels_of(x_marks)),
        frame.titles("tokens a second for one user", "output tokens a second for all"),
        path([(x.at(left), y.at(up)) for left, up in joined], "front", data_points=str(len(front))),
        *dots,
    )


def _point(figures: Mapping[str, float]) -> tuple[float, float] | None:
    tpot_s, rate = figures.get("median_tpot_s"), figures.get("output_throughput")
    return (1 / tpot_s, rate) if tpot_s and rate else None


def effects_chart(effects: Sequence[KnobEffect]) -> Markup | None:
    """Each knob's best ratio with its interval, beside 1."""
    if not effects:
        return None
    labels = [effect.value if len(effect.value) < LONGEST else effect.title for effect in effects]
    label_wide = WIDER * max(width_of(label, LETTER) for label in labels) + 16
    ends = [end for effect in effects for end in (effect.ratio.low, effect.ratio.high, effect.ratio.value) if end]
    left = min(label_wide, 300.0)
    high = TOP + BAR * len(effects) + BOTTOM
    x, marks = axis(min(0.9, *ends), max(1.1, *ends), left, WIDE - RIGHT)
    y, _ = axis(0.0, 1.0, high - BOTTOM, TOP - 10)
    rows = [line(x.at(1.0), TOP - 10, x.at(1.0), high - BOTTOM, "drop")]
    for place, effect in enumerate(effects):
        at = TOP + BAR * (place + 0.5)
        kind = "ours" if effect.in_winner else "theirs"
        if effect.ratio.low is not None and effect.ratio.high is not None:
            rows.append(line(x.at(effect.ratio.low), at, x.at(effect.ratio.high), at, f"interval-{kind}"))
        rows.append(tag("circle", cx=x.at(effect.ratio.value), cy=at, r=4, class_=f"interval-{kind}-point"))
        rows.append(text(left - 10, at + 4, labels[place], "tick", "end"))
    return picture(
        "knobs",
        "What each knob brought by itself",
        "; ".join(f"{effect.value}: {ratio_words(effect.ratio)}" for effect in effects),
        WIDE,
        high,
        Frame(x, y).ticks_x(marks, labels_of(marks)),
        text((left + WIDE - RIGHT) / 2, high - 8, "worth over that of the default", "axis-title", "middle"),
        *rows,
    )
