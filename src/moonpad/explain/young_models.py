"""Options that older builds of an engine read in another form, in a command for a model that came after the change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Final

from moonpad.catalog.release_days import release_days
from moonpad.engines import ENGINES
from moonpad.engines.former_forms import form_changed
from moonpad.explain.results import Remark, shortened
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_NO_VALUE: Final = " needs a value"
_APART: Final = timedelta(days=60)
"""Between the change and the first engine that has the model, so that no build of that time is meant."""


def but_young(remarks: Iterable[Remark], program: str, checkpoint: Checkpoint | None) -> Iterator[Remark]:
    """The remarks; that a value is missing is certain where the model came after the last builds that need none."""
    for remark in remarks:
        finding = remark.finding
        lacks = finding.code is Code.INVALID_VALUE and _NO_VALUE in finding.message
        change = form_changed(program, finding.where) if lacks and finding.severity is Severity.WARNING else None
        if change is None or checkpoint is None or not _is_younger(checkpoint, change[1]):
            yield remark
            continue
        message = (
            f"{finding.where}{_NO_VALUE}, and takes the next word as such: builds before {change[0]} of "
            f"{change[1]} alone read it without, and {shortened(checkpoint.name)} came later"
        )
        yield replace(remark, finding=replace(finding, message=message), stops=True)


def _is_younger(checkpoint: Checkpoint, day: str) -> bool:
    """By the first release of any engine that has the model."""
    kind = checkpoint.architecture.model_type
    days = [
        published
        for name, engine in ENGINES.items()
        if (first := engine.facts.first_versions.get(kind)) and (known := release_days().get(name)) is not None
        if (published := known.releases.get(first))
    ]
    return bool(days) and date.fromisoformat(min(days)) - date.fromisoformat(day) >= _APART
