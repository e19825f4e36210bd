"""What earlier tunes have measured of the very same: nothing is measured twice.

A figure alone does not travel, since a machine is not as fast every day: what is taken over is the ratio to the default
that was measured beside it. The last stage is always measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from moonpad.store.atomic_files import read_lines
from moonpad.tune.journal import tunes_folder
from moonpad.tune.visit import Stage, Visit
from moonpad.values.records import replace


def kept_visit(own: Path, fingerprint: str, default: str, stage: Stage, base: float) -> Visit | None:
    """The newest of another tune with the fingerprints of this candidate and of this default in that stage, scaled to
    `base`, the default's worth here; None where there is none."""
    found: Visit | None = None
    for folder in sorted(tunes_folder().glob("*/journal*.jsonl")):
        if folder.parent == own:
            continue  # its present journal, and what --fresh has set aside
        found = _of_journal(folder, fingerprint, default, stage, base) or found
    return found


def _of_journal(journal: Path, fingerprint: str, default: str, stage: Stage, base: float) -> Visit | None:
    visits = list(_visits(journal, stage))
    beside = [visit.worth for print_, visit in visits if print_ == default and visit.worth]
    own = [
        visit for print_, visit in visits if print_ == fingerprint and visit.worth is not None and not visit.hopeless
    ]
    if not (own and beside):
        return None
    scale = base / fmean(beside)
    last = own[-1]
    return replace(
        last,
        worths=tuple(worth * scale for worth in last.worths),
        samples=tuple(sample * scale for sample in last.samples),
        seconds=0.0,
        start_s=0.0,
        load_s=0.0,
        kept_from=journal.parent.name,
    )


def _visits(journal: Path, stage: Stage) -> Iterator[tuple[str, Visit]]:
    for event in read_lines(journal):
        if event.get("event") != "visit":
            continue
        try:
            visit = Visit.of(_mapping(event["visit"]))
        except (KeyError, TypeError, ValueError):
            continue
        if visit.stage == stage and not visit.kept_from:
            yield str(event.get("fingerprint", "")), visit


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
