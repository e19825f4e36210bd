"""`moonpad catalog`: what moonpad knows of models, hardware and engines, with source and standing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from moonpad.cli.output import emit_json, next_command, out

if TYPE_CHECKING:
    from rich.console import RenderableType

Json = Annotated[bool, Parameter(negative=(), help="Print one JSON document on stdout.")]
PLAN = "moonpad plan --model moonshotai/Kimi-K2-Thinking --on 8xH200"


def summary(*, json: Json = False) -> None:
    """Count what each table holds, by how sure it is."""
    from moonpad.catalog.calibrations import calibrations
    from moonpad.catalog.hardware import hardware
    from moonpad.catalog.models import models
    from moonpad.catalog.published import published
    from moonpad.catalog.toml_rows import STANDINGS
    from moonpad.engines import ENGINES

    parts: dict[str, Counter[str]] = {
        "models": Counter(model.standing for model in models().values()),
        "hardware": Counter(row.provenance.standing for row in hardware().values()),
        "engines": Counter({"rows": len(ENGINES)}),
        "calibrations": Counter(run.standing for run in calibrations()),
        "published": Counter(result.standing for result in published()),
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
    from moonpad.catalog.models import models as known
    from moonpad.report.catalog_table import models_table

    rows = known().values()
    _show("models", rows, models_table(rows), (model.refused for model in rows), json=json)


def hardware(*, json: Json = False) -> None:
    """List the devices that a cluster can be named by, such as 8xH200."""
    from moonpad.catalog.clusters import parse_cluster
    from moonpad.catalog.hardware import hardware as known
    from moonpad.report.catalog_table import hardware_table

    rows = known().values()
    racks = [(name, parse_cluster(name)) for row in rows for name in row.domain_names]
    notes = [row.refused for row in rows]
    notes += [f"{name}: the {cluster.devices} devices of a rack, {cluster.name}" for name, cluster in racks]
    _show("hardware", rows, hardware_table(rows), notes, json=json)


def engines(*, json: Json = False) -> None:
    """List the engines that moonpad plans for."""
    from moonpad.engines import ENGINES
    from moonpad.report.catalog_table import engines_table

    rows = [
        {
            "name": engine.name,
            "platforms": tuple(map(str, engine.platforms)),
            "installs": engine.recipe.version if engine.recipe else "",
        }
        for engine in ENGINES.values()
    ]
    _show("engines", rows, engines_table(rows), json=json, following="moonpad engine list")


def calibrations(*, json: Json = False) -> None:
    """List the measured starts that override the memory model."""
    from moonpad.catalog.calibrations import calibrations as known
    from moonpad.report.catalog_table import calibrations_table

    sources = dict.fromkeys((run.source, run.notes) for run in known())
    _show("calibrations", known(), calibrations_table(known()), map(": ".join, sources), json=json)


def published(*, json: Json = False) -> None:
    """List results that others published. None of them was measured here."""
    from moonpad.catalog.published import published as known
    from moonpad.report.catalog_table import published_text

    rows = [{**_plain(result), "figures": dict(result.figures)} for result in known()]
    sources = dict.fromkeys((result.source, result.note) for result in known())
    _show("published", rows, published_text(known()), map(": ".join, sources), json=json)


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
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
