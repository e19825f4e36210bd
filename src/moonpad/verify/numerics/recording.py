"""A recording: what a trusted engine, or an oracle, says of the texts, as one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from moonpad.verify.numerics.compare import Distance, Place
from moonpad.verify.numerics.scored import Scored

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Recording:
    """`made_by` says what computed it, `floor` how far that was from itself; None for what computes exactly."""

    model: str
    made_by: str
    at: str
    texts: Mapping[str, Scored]
    floor: Distance | None


def as_document(recording: Recording) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "model": recording.model,
        "made_by": recording.made_by,
        "at": recording.at,
        "floor": asdict(recording.floor) if recording.floor else None,
        "texts": {name: one.as_json() for name, one in recording.texts.items()},
    }


def of_document(document: Any) -> Recording:
    """
    Raises:
        ValueError: it is no recording, or of a layout that this moonpad does not know.
    """
    try:
        if document["schema"] != SCHEMA:
            raise ValueError(f"schema {document['schema']!r}, this moonpad reads {SCHEMA}")
        texts = {str(name): Scored.of_json(one) for name, one in document["texts"].items()}
        if not texts:
            raise ValueError("it has no texts")
        return Recording(
            str(document["model"]), str(document["made_by"]), str(document["at"]), texts, _floor(document["floor"])
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _floor(document: Mapping[str, Any] | None) -> Distance | None:
    if document is None:
        return None
    first = document["first_changed"]
    return Distance(
        int(document["positions"]),
        float(document["mean"]),
        float(document["largest"]),
        float(document["changed"]),
        Place(**document["largest_at"]),
        Place(**first) if first else None,
    )
