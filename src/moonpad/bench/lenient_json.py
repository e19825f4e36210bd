"""Values of a JSON document that may lack them or have other types. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def number_at(document: object, *names: str) -> float | None:
    """The number under these nested names; None if missing, not a number or not finite."""
    value = value_at(document, *names)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def mapping_at(document: object, *names: str) -> Mapping[str, Any]:
    """The object under these names; empty if missing."""
    value = value_at(document, *names)
    return value if isinstance(value, Mapping) else {}


def value_at(document: object, *names: str) -> object:
    """The value under these names; None if missing."""
    for name in names:
        if not isinstance(document, Mapping):
            return None
        document = document.get(name)
    return document
