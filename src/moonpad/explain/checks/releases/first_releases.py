"""The first release of an engine that has the class of a command's model."""

from __future__ import annotations

from moonpad.catalog.other_models import other_model
from moonpad.explain.checks.check_case import Case
from moonpad.values.versions import since


def first_with_model(case: Case) -> str:
    """What was mended before it never touched this model. "" where it is not known."""
    if case.checkpoint is not None:
        return case.engine.facts.first_versions.get(case.checkpoint.architecture.model_type, "")
    other = other_model(case.model_named)
    return other.first.get(case.engine.name, "") if other is not None else ""


def has_no_model_before(release: str, case: Case) -> bool:
    """Whether the model came with that release or a later one: what ends starts of earlier ones never touched it."""
    first = first_with_model(case)
    return bool(first) and since(first, release)
