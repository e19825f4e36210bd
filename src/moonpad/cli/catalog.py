"""`moonpad catalog`: what moonpad knows without asking anybody, with where it comes from and how sure that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from moonpad.cli.output import emit_json, next_command, out

if TYPE_CHECKING:
    from moonpad.engines.base import Engine

Json = Annotated[bool, Parameter(negative=())]
PLAN = "moonpad plan --model moonshotai/Kimi-K2-Thinking --on 8xH200"


def summary(*, json: Json = False) -> None:
    """Say how much there is of everything.

    Parameters
    ----------
    json
        Print one JSON document on stdout.
    """
    from moonpad.catalog.calibrations import calibrations
    from moonpad.catalog.hardware import hardware
    from moonpad.catalog.models import models
    from moonpad.catalog.published import published

    parts: dict[str, Counter[str]] = {
        "models": Counter(model.standing for model in models().values()),
        "hardware": Counter(one.provenance.standing for one in hardware().values()),
        "engines": Counter({"rows": len(_engines())}),
        "calibrations": Counter(one.standing for one in calibrations()),
        "published": Counter(one.standing for one in published()),
    }
    if json:
        emit_json({name: {"count": counts.total(), **_standings(counts)} for name, counts in parts.items()})
        return
    for name, counts in parts.items():
        how_sure = ", ".join(f"{count} {standing}" for standing, count in _standings(counts).items())
        out().print(f"  {name:<13} {counts.total():>3}" + (f"  ({how_sure})" if how_sure else ""))
    out().print("verified: run or computed here. reported: read in the source named. estimated: concluded.")
    next_command("moonpad catalog models")


def models(*, json: Json = False) -> None:
    """List the checkpoints that can be planned by name, and what their weights take.

    Parameters
    ----------
    json
        Print one JSON document on stdout.
    """
    from moonpad.catalog.models import models as known
    from moonpad.report.catalog_table import models_table

    rows = known().values()
    if json:
        emit_json({"models": [_plain(model) for model in rows]})
        return
    out().print(models_table(rows))
    for model in rows:
        if model.refused:
            out().print(f"  {model.refused}")
    next_command(PLAN)


def hardware(*, json: Json = False) -> None:
    """List the devices that a cluster can be named by, such as 8xH200.

    Parameters
    ----------
    json
        Print one JSON document on stdout.
    """
    from moonpad.catalog.hardware import hardware as known
    from moonpad.report.catalog_table import hardware_table

    rows = known().values()
    if json:
        emit_json({"hardware": [_plain(one) for one in rows]})
        return
    out().print(hardware_table(rows))
    for one in rows:
        if one.refused:
            out().print(f"  {one.refused}")
    next_command(PLAN)


def engines(*, json: Json = False) -> None:
    """List the engines that moonpad plans for.

    Parameters
    ----------
    json
        Print one JSON document on stdout.
    """
    from moonpad.report.catalog_table import engines_table

    rows = [(engine.name, tuple(map(str, engine.platforms)), _installs(engine)) for engine in _engines()]
    if json:
        keys = ("name", "platforms", "installs")
        emit_json({"engines": [dict(zip(keys, row, strict=True)) for row in rows]})
        return
    out().print(engines_table(rows))
    next_command("moonpad engine list")


def calibrations(*, json: Json = False) -> None:
    """List the measured starts that override the memory model.

    Parameters
    ----------
    json
        Print one JSON document on stdout.
    """
    from moonpad.catalog.calibrations import calibrations as known
    from moonpad.report.catalog_table import calibrations_table

    if json:
        emit_json({"calibrations": [_plain(one) for one in known()]})
        return
    out().print(calibrations_table(known()))
    _print_sources((one.source, one.notes) for one in known())
    next_command(PLAN)


def published(*, json: Json = False) -> None:
    """List results that others published. None of them was measured here.

    Parameters
    ----------
    json
        Print one JSON document on stdout.
    """
    from moonpad.catalog.published import published as known
    from moonpad.report.catalog_table import published_text

    if json:
        rows = [_plain(one) for one in known()]
        emit_json({"published": [{**row, "figures": dict(row["figures"])} for row in rows]})
        return
    out().print("Means measured by others, not by moonpad:")
    out().print(published_text(known()))
    _print_sources((one.source, one.note) for one in known())
    next_command(PLAN)


def _print_sources(rows: Iterable[tuple[str, str]]) -> None:
    for source, note in dict.fromkeys(rows):
        out().print(f"  {source}" + (f": {note}" if note else ""), style="dim")


def _standings(counts: Counter[str]) -> dict[str, int]:
    from moonpad.catalog.rows import STANDINGS

    return {standing: counts[standing] for standing in STANDINGS if counts[standing]}


def _engines() -> tuple[Engine, ...]:
    from moonpad.engines import ENGINES

    return tuple(ENGINES.values())


def _installs(engine: Engine) -> str:
    """The version that moonpad installs, "" where the user brings it."""
    return engine.recipe.version if engine.recipe is not None else ""


def _plain(value: object) -> Any:
    """A frozen value as JSON holds it: its fields by name."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value
