"""A model that only the text names: in whatever format its weights are, they take four bits each at the least."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.largest_alone import OTHER_WEIGHTS
from moonpad.explain.checks.memory.room_of_others import fraction_of, memory_of
from moonpad.explain.documents.headed_models import is_alone
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.logged_caches import tells_of_answers, tells_of_cache
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.model_detection import says_nothing, spoken_of
from moonpad.explain.results import Remark, make_remark
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

_BITS: Final = 4
_SMALLER: Final = re.compile(
    r"\b(?:REAP|distil\w*|tiny|toy|prun(?:ed|ing)|truncated|dummy|random weights|gguf|offload\w*|(?:IQ|UD-Q|Q)[123]_\w+"
    r"|(?:[123](?:\.\d+)?|one|two|three)[ -]?bits?)\b",
    re.IGNORECASE,
)
"""A part of the model, a format of fewer bits, or a part that stays in the host's memory."""
_LONGEST: Final = 2000
_OTHER: Final = tuple(flag for flag in OTHER_WEIGHTS if flag != "--quantization")


def least_of_named(case: Case) -> Iterator[Remark]:
    """`vllm serve <model-path>` below a title that names the model, whose weights are another's."""
    reading, facts = case.first, case.engine.facts
    flag = case.engine.command_line.options.get("tp")
    helped = facts.host_experts or facts.gguf_only or reading.left_to_engine or reading.settings.cpu_offload_gib
    if case.checkpoint is not None or flag is None or helped or not case.whole or is_fragment(case.commands[0]):
        return
    place = case.option(flag)
    if place is None or reading.takes_all_devices or case.option(*_OTHER) is not None:
        return
    if not says_nothing(reading.model):
        return
    model, lines = spoken_of(reading.model, case.commands, case.script), case.script.lines
    case.script.budget.once("models of headings", len(lines), "the text around its engine commands")
    if model is None or model.refused or not is_alone(model.id, lines, case.commands[0].line):
        return
    held = catalog_checkpoint(model).parameters * _BITS / 8
    ranks = reading.layout.world_size * case.size("--prefill-context-parallel-size", "-pcp")
    (each, kind), fraction = memory_of(case), fraction_of(case)
    if not held or not each or held <= ranks * each * fraction or is_in_lines(_SMALLER, lines, _LONGEST):
        return
    if case.serves_already or tells_of_cache(lines) or tells_of_answers(lines):
        return
    share = f"{fraction:g} of " if fraction < 1 else ""
    message = (
        f"the text names {model.id}, whose weights take at least {held / GIB:,.0f} GiB at {_BITS} bits, and {ranks} "
        f"{'device' if ranks == 1 else 'devices'} {kind} {'has' if ranks == 1 else 'have'} {share}"
        f"{ranks * each / GIB:,.0f} GiB"
    )
    needed = 2 ** math.ceil(math.log2(held / (each * min(fraction, 0.9))))
    remedy = f"take {needed} or more devices"
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, flag, message, remedy, at=place.index)
