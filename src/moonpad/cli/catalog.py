"""`moonpad catalog`: what moonpad knows of models, hardware and engines, with source and standing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from rich.console import RenderableType

from moonpad.catalog import calibrations as calibration_rows
from moonpad.catalog import hardware as hardware_rows
from moonpad.catalog import models as model_rows
from moonpad.catalog import published as published_rows
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.toml_rows import STANDINGS
from moonpad.cli.output import Json, emit_json, next_command, out
from moonpad.report import catalog_table as tables
from moonpad.values.records import field_names, is_record

PLAN = "moonpad plan --model moonshotai/Kimi-K2-Thinking --on 8xH200"


def summary(*, json: Json = False) -> None:
    """Count what each table holds, by how sure it is."""
    from moonpad.engines import ENGINES

    parts: dict[str, Counter[str]] = {
        "models": Counter(model.standing for model in model_rows.models().values()),
        "hardware": Counter(row.provenance.standing for row in hardware_rows.hardware().values()),
        "engines": Counter({"rows": len(ENGINES)}),
        "calibrations": Counter(run.standing for run in calibration_rows.calibrations()),
        "published": Counter(result.standing for result in published_rows.published()),
    }
    standings = {name: {key: counts[key] for key in STANDINGS if counts[key]} for name, counts in parts.items()}
    if json:
        emit_json({name: {"count": counts.total(), **standings[name]} for name, counts in parts.items()})
        return
    for name, counts in parts.items():
        how_sure = ", ".join(f"{count} {standing}" for standing, count in standings[name].items())
        out().print(f"  {name:<13} {counts.total():>3}" + (f"  ({how_sure})" if how_sure else ""))
    out().print("verified: run or computed here. reported: read in the named source. estimated: inferred.")
    next_command("moonpad catalog models")


def models(*, json: Json = False) -> None:
    """List the checkpoints that can be planned by name, and the size of their weights."""
    rows = model_rows.models().values()
    _show("models", rows, tables.models_table(rows), (model.refused for model in rows), json=json)


def hardware(*, json: Json = False) -> None:
    """List the devices that a cluster can be named by, such as 8xH200."""
    rows = hardware_rows.hardware().values()
    racks = [(name, parse_cluster(name)) for row in rows for name in row.domain_names]
    notes = [row.refused for row in rows]
    notes += [f"{name}: the {cluster.devices} devices of a rack, {cluster.name}" for name, cluster in racks]
    _show("hardware", rows, tables.hardware_table(rows), notes, json=json)


def engines(*, json: Json = False) -> None:
    """List the engines that moonpad plans for."""
    from moonpad.engines import ENGINES

    rows = [
        {
            "name": engine.name,
            "platforms": tuple(map(str, engine.platforms)),
            "installs": engine.recipe.version if engine.recipe else "",
        }
        for engine in ENGINES.values()
    ]
    _show("engines", rows, tables.engines_table(rows), json=json, following="moonpad engine list")


def calibrations(*, json: Json = False) -> None:
    """List the measured starts that override the memory model."""
    rows = calibration_rows.calibrations()
    sources = dict.fromkeys((run.source, run.notes) for run in rows)
    _show("calibrations", rows, tables.calibrations_table(rows), map(": ".join, sources), json=json)


def published(*, json: Json = False) -> None:
    """List results that others published. None of them was measured here."""
    results = published_rows.published()
    rows = [{**_plain(result), "figures": dict(result.figures)} for result in results]
    sources = dict.fromkeys((result.source, result.note) for result in results)
    _show("published", rows, tables.published_text(results), map(": ".join, sources), json=json)


def _show(
    name: str,
    rows: Iterable[object],
    table: RenderableType,
    notes: Iterable[str] = (),
    *,
    json: bool,
    following: str = PLAN,
) -> None:
    """One table with its notes, or the rows as JSON."""
    if json:
        emit_json({name: [_plain(row) for row in rows]})
        return
    out().print(table)
    for note in notes:
        if note:
            out().print(f"  {note.removesuffix(': ')}", style="dim")
    next_command(following)


def _plain(value: object) -> Any:
    """A frozen value as JSON holds it: its fields by name."""
    if isinstance(value, Enum):
        return value.value
    if is_record(value):
        return {name: _plain(getattr(value, name)) for name in field_names(type(value))}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
