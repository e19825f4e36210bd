"""What the weights of a command for GGUF files take: those of its file, or, where the text names the model alone, what
a file of the fewest bits takes."""

from __future__ import annotations

import re
from typing import Final

from moonpad.catalog.gguf import type_bits, weights_in_gguf
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.headed_models import is_alone
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.model_detection import says_nothing, spoken_of
from moonpad.values.units import gib

_OTHERS: Final = re.compile(
    r"qwen|llama-?[0-9]|deepseek|glm-?[0-9]|gpt-oss|mi[sx]tral|gemma|minimax|phi-?[0-9]|nemotron|smollm"
    r"|\b(?:REAP|distil\w*|tiny|prun(?:ed|ing))\b",
    re.IGNORECASE,
)
"""Models that a file may be of as well, and parts of a model."""
_LONGEST: Final = 2000


def least_weights(case: Case) -> tuple[float, str] | None:
    """Bytes, and a sentence about them; None where no model is known."""
    if case.checkpoint is not None:
        return case.checkpoint.total_bytes, f"the weights are {gib(case.checkpoint.total_bytes)}"
    lines, command = case.script.lines, case.commands[0]
    if not says_nothing(case.first.model) or is_in_lines(_OTHERS, lines, _LONGEST):
        return None
    model = spoken_of(case.first.model, case.commands, case.script)
    weights = weights_in_gguf().get(model.architecture_name) if model is not None else None
    if model is None or weights is None or model.refused or not is_alone(model.id, lines, command.line):
        return None
    bits = min(row.bits[0] for row in type_bits().values())
    held = weights.count * bits / 8
    name = model.id.rpartition("/")[2]
    return held, f"a GGUF of {name} takes {gib(round(held))} at the least ({bits:g} bits a weight)"
