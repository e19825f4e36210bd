"""What a trusted engine or an oracle says of the texts. The oracle of the tests imports it in an engine's environment,
which has msgspec and little else of what moonpad needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from moonpad.verify.numerics.compare import Distance, Scored


@dataclass(frozen=True, slots=True)
class Recording:
    """How a trusted engine or an oracle scores the texts; a JSON document.

    `made_by` says what computed it, `floor` how far two of its own answers were apart: None if it computes exactly.
    """

    model: str
    made_by: str
    at: str
    texts: Annotated[Mapping[str, Scored], msgspec.Meta(min_length=1)]
    floor: Distance | None
    schema: Literal[1] = 1
