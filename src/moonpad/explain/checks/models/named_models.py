"""Which of the models that are not planned a deployment serves, by its path or by the name that clients use."""

from __future__ import annotations

from typing import NamedTuple

from moonpad.catalog.other_models import OtherModel, other_model
from moonpad.explain.checks.check_case import Case
from moonpad.explain.model_detection import says_nothing


class Named(NamedTuple):
    model: OtherModel
    sure: bool
    """Its path names it. A served name is free to choose."""


def named_model(case: Case) -> Named | None:
    if case.checkpoint is not None:
        return None
    if (known := other_model(case.model_named)) is not None:
        return Named(known, sure=True)
    served = case.first.served_name or ""
    known = other_model(served) if served and says_nothing(case.model_named) else None
    return Named(known, sure=False) if known is not None else None
