"""A recording: what a trusted engine, or an oracle, says of the texts, as one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from moonpad.verify.numerics.compare import Distance, Scored


@dataclass(frozen=True, slots=True)
class Recording:
    """`made_by` says what computed it, `floor` how far that was from itself; None for what computes exactly."""

    model: str
    made_by: str
    at: str
    texts: Annotated[Mapping[str, Scored], msgspec.Meta(min_length=1)]
    floor: Distance | None
    schema: Literal[1] = 1


def as_document(recording: Recording) -> dict[str, object]:
    document: dict[str, object] = msgspec.to_builtins(recording)
    return document


def of_document(document: Any) -> Recording:
    """
    Raises:
        ValueError: it is not a recording, or has a layout that this moonpad does not read.
    """
    return msgspec.convert(document, Recording)
