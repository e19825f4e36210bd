"""A tensor parallel size that a report of a failure tells, against the attention heads of the model that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final

from moonpad.catalog.other_models import OtherModel, shared_evenly
from moonpad.engines import foreign_names as names
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_SIZE: Final = re.compile(
    r"(?<![\w.-])(?:--(?:tp|tp-size|tensor-parallel-size)[ =]|-tp[ =]|TP(?:[ _-]?size)?[ ]?[=:]?[ ]?"
    r"|tensor[- ]parallel(?:ism)?(?:[- ]size)?[ ]?(?:of|=|:|is)?[ ]?)(?P<size>[1-9][0-9]{0,2})(?![\w.]*\w)",
    re.IGNORECASE,
)
_OTHERWISE: Final = re.compile(
    r"\b(?:instead of|rather than|not|never|cannot|can't|unlike|avoid|if)\b[^.]{0,20}\Z", re.IGNORECASE
)
"""In front of a size that is not the one that was run."""
_MOST: Final = 1024


def uneven_heads(engine: str, model: OtherModel | None, lines: Sequence[str], logged: Set[int]) -> Iterator[Remark]:
    """Of the sizes that its author tells, the first by which the heads cannot be shared out. `logged`: the lines, from
    1, that are not the author's."""
    if model is None or not model.heads or engine not in names.CHECKED:
        return
    for number, line in enumerate(lines, 1):
        for match in _SIZE.finditer(line) if number not in logged else ():
            size = int(match["size"])
            if model.heads % size == 0 or size > _MOST or _OTHERWISE.search(line[: match.start()]):
                continue
            below = next((each for each in range(size - 1, 1, -1) if shared_evenly(model, each)), 0)
            above = next((each for each in range(size + 1, model.heads + 1) if shared_evenly(model, each)), 0)
            sizes = " or ".join(str(each) for each in (above, below) if each)
            message = f"tensor parallel {size}: the {model.heads} attention heads of {model.title} cannot be shared out"
            message += " evenly, and the start ends"
            remedy = f"take a tensor parallel size of {sizes}" if sizes else "take a tensor parallel size of 1"
            yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, f"line {number}", message, remedy)
            return
