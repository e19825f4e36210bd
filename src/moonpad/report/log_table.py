"""What `moonpad plan --from-log` shows: what was started, and each figure of the log beside the planned one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rich.text import Text

from moonpad.catalog.calibrations import Calibration
from moonpad.engines.start_log import LoggedStart
from moonpad.plan.logged_figures import Compared
from moonpad.report.plain_text import aligned, hanging, shown
from moonpad.report.plan_json import settings_json
from moonpad.spec.writer import literal
from moonpad.values.configuration import Configuration
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import as_dict, field_names
from moonpad.values.units import GIB

HEADS: Final = ("", "planned", "range", "measured", "difference", "")
LABELS: Final = {
    "weights_gib": "weights, GiB",
    "overhead_gib": "everything else, GiB",
    "graphs_gib": "of it CUDA graphs, GiB",
    "kv_gib": "KV cache, GiB",
    "kv_tokens": "KV cache, tokens",
    "concurrency": "at once, at full context",
    "graphs_estimated_gib": "graphs as estimated, GiB",
    "activation_gib": "activation peak, GiB",
    "non_torch_gib": "not of torch, GiB",
    "free_gib": "free at the end, GiB",
    "blocks": "blocks",
    "load_s": "loading, s",
}
WHOLE: Final = frozenset({"kv_tokens", "blocks"})
WITHIN: Final = {True: "within", False: "outside", None: ""}


def log_table(
    start: LoggedStart, configuration: Configuration, rows: Sequence[Compared], notes: Sequence[str], width: int
) -> Text:
    """All of it, wrapped at `width` columns."""
    engine, version = configuration.engine.name, configuration.version
    words = f"{configuration.checkpoint.name} on {configuration.cluster.name}, {engine} {version}".rstrip()
    text = Text(f"{shown(words)}, {configuration.layout.words}\n", style="bold")
    if start.starts > 1:
        text.append(f"The log holds {start.starts} starts: this is the last one that measured its memory.\n")
    if start.failure is not None:
        text.append(hanging(f"It failed: {shown(start.failure.message)}", 2, width) + "\n", style="yellow")
    elif not start.ready:
        text.append("The log ends before the engine was ready.\n", style="yellow")
    text.append("\n")
    cells = [HEADS, *(_cells(row) for row in rows)]
    for number, line in enumerate(aligned(cells, (0, 5))):
        style = "bold" if number == 0 else "yellow" if rows[number - 1].within is False else ""
        text.append(("  " + "  ".join(line)).rstrip() + "\n", style=style)
    if not rows:
        text.append("  It measured nothing.\n")
    for note in notes:
        text.append("\n" + hanging(note, 0, width))
    text.rstrip()
    return text


def _cells(row: Compared) -> tuple[str, ...]:
    planned = row.planned
    span = f"{_figure(row, planned.low)} to {_figure(row, planned.high)}" if planned and row.within is not None else ""
    apart = ""
    if row.difference is not None and planned is not None:
        percent = f" ({row.difference / planned.value:+.1%})" if planned.value > 0 else ""
        sign = "+" if row.difference >= 0 else "-"
        apart = f"{sign}{_figure(row, abs(row.difference))}{percent}"
    return (
        LABELS[row.name],
        _figure(row, planned.value) if planned else "",
        span,
        _figure(row, row.measured),
        apart,
        WITHIN[row.within],
    )


def _figure(row: Compared, value: float) -> str:
    return f"{value:,.0f}" if row.name in WHOLE else f"{value:,.2f}"


def log_json(
    start: LoggedStart,
    configuration: Configuration,
    memory: Memory | None,
    rows: Sequence[Compared],
    kept: dict[str, Any],
) -> dict[str, Any]:
    failure = start.failure
    return {
        "log": {
            "model": configuration.checkpoint.name,
            "cluster": configuration.cluster.name,
            "engine": configuration.engine.name,
            "engine_version": configuration.version,
            "layout": as_dict(configuration.layout),
            "settings": settings_json(configuration.settings),
            "starts": start.starts,
            "ranks": start.ranks,
            "ready": start.ready,
            "failure": None if failure is None else {"message": failure.message, "remedy": failure.remedy},
        },
        "figures": [_row_json(row) for row in rows],
        "memory": None if memory is None else memory.as_json(),
        **kept,
    }


def _row_json(row: Compared) -> dict[str, Any]:
    planned = None if row.planned is None else row.planned.as_json()
    return {
        "name": row.name,
        "planned": planned,
        "measured": row.measured,
        "difference": row.difference,
        "within": row.within,
    }


def catalog_row(start: Calibration) -> str:
    """The row of catalog/data/calibrations.toml that says the same. `source` is for a person to complete."""
    lines: dict[str, Any] = {
        "engine": start.engine,
        "engine_version": start.engine_version,
        "model": start.model,
        "scheme": start.scheme,
        "device": start.device,
        "layout": differing(start.layout) or {"tp": 1},
        "settings": differing(start.settings),
        "kv_gib": round(start.kv_bytes / GIB, 4),
        "kv_tokens": start.kv_tokens,
        "source": start.source,
        "standing": start.standing,
    }
    body = (f"{name} = {_toml(value)}" for name, value in lines.items() if value is not None)
    return "\n".join((f"[runs.{start.id}]", *body, f"checked = {start.checked}"))


def differing(value: Layout | Settings) -> dict[str, Any]:
    """What differs from the defaults."""
    usual = type(value)()
    return {name: here for name in field_names(type(value)) if (here := getattr(value, name)) != getattr(usual, name)}


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(inner)}" for name, inner in value.items()) + " }"
    return literal(value)
