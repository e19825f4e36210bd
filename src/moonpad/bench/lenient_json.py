"""Values of a JSON document that may lack them or have other types. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def number_at(document: object, *names: str) -> float | None:
    """The number under these names, one within the other; None where it is missing, not a number or not finite."""
    value = value_at(document, *names)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def mapping_at(document: object, *names: str) -> Mapping[str, Any]:
    """The object under these names; an empty one where there is none."""
    value = value_at(document, *names)
    return value if isinstance(value, Mapping) else {}


def value_at(document: object, *names: str) -> object:
    """What stands under these names; None where nothing does."""
    for name in names:
        if not isinstance(document, Mapping):
            return None
        document = document.get(name)
    return document
