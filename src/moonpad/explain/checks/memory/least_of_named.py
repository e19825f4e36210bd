"""A model that only the text names, or that the name of a conversion names, `Kimi-K2.6-AWQ`: in whatever format its
weights are, they take four bits each at the least."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.model_row import Model
from moonpad.catalog.models import find_model
from moonpad.catalog.other_models import group_of_four_bits
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.engine_share import room_words, share_of
from moonpad.explain.checks.memory.largest_alone import OTHER_WEIGHTS
from moonpad.explain.checks.memory.room_of_others import memory_of
from moonpad.explain.documents.headed_models import is_alone
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.logged_caches import tells_of_answers, tells_of_cache
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.model_detection import says_nothing, spoken_of
from moonpad.explain.results import Remark, make_remark
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.units import GIB

_BITS: Final = 4
_SMALLER: Final = re.compile(
    r"\b(?:REAP|distil\w*|tiny|toy|prun(?:ed|ing)|truncated|dummy|random weights|gguf|offload\w*|(?:IQ|UD-Q|Q)[123]_\w+"
    r"|(?:[123](?:\.\d+)?|one|two|three)[ -]?bits?)\b",
    re.IGNORECASE,
)
"""A part of the model, a format of fewer bits, or a part that stays in the host's memory."""
_CONVERTED: Final = re.compile(
    r"(?P<name>[\w.-]+?)(?P<forms>(?:[-_.](?:awq|gptq|autoround|quantized|[wW]\d{1,2}[aA]\d{1,2}|(?:int|fp|nvfp|mxfp)[48]"
    r"|[48][-_]?bit|bf16|marlin|g(?:s|roup)?[-_]?(?:32|64|128)|sym|asym|dynamic))+)",
    re.IGNORECASE | re.ASCII,
)
"""`Kimi-K2.6-GPTQ-Int4`: no format of it has fewer bits than four."""
_BITS_OF_SCALE: Final = 16
_LONGEST: Final = 2000
_OTHER: Final = tuple(flag for flag in OTHER_WEIGHTS if flag != "--quantization")


def least_of_named(case: Case) -> Iterator[Remark]:
    """`vllm serve <model-path>` below a title that names the model, whose weights are another's."""
    if not _is_judged(case) or not says_nothing(case.first.model):
        return
    reading, lines = case.first, case.script.lines
    model = spoken_of(reading.model, case.commands, case.script)
    case.script.budget.once("models of headings", len(lines), "the text around its engine commands")
    if model is None or model.refused or not is_alone(model.id, lines, case.commands[0].line):
        return
    yield from _of_room(case, model, _BITS, f"the text names {model.id}, whose weights take")


def least_of_converted(case: Case) -> Iterator[Remark]:
    """`/models/Kimi-K2.6-AWQ`: the weights of that model in a format of four bits or more."""
    written = case.first.model.rstrip("/")
    converted = _CONVERTED.fullmatch(written.rpartition("/")[2])
    if converted is None or case.option("--load-format") is not None or not _is_judged(case):
        return
    model = find_model(converted["name"])
    if model is None or model.refused or (model.quantization is not None and model.quantization.scheme == "gguf"):
        return
    group = group_of_four_bits(written)
    bits = _BITS + (_BITS_OF_SCALE / group if group else 0)
    yield from _of_room(case, model, bits, f"{written} is {model.id} in another format by its name: its weights take")


def _is_judged(case: Case) -> bool:
    reading, facts = case.first, case.engine.facts
    flag = case.engine.command_line.options.get("tp")
    helped = facts.host_experts or facts.gguf_only or reading.left_to_engine or reading.settings.cpu_offload_gib
    if case.checkpoint is not None or flag is None or helped or not case.whole or is_fragment(case.commands[0]):
        return False
    return case.option(flag) is not None and not reading.takes_all_devices and case.option(*_OTHER) is None


def _of_room(case: Case, model: Model, bits: float, whose: str) -> Iterator[Remark]:
    """What so many bits for each weight take against the memory of all ranks."""
    reading, lines = case.first, case.script.lines
    flag = case.engine.command_line.options["tp"]
    place = case.option(flag)
    held = _kept_parameters(model) * bits / 8
    ranks = reading.layout.world_size * case.size("--prefill-context-parallel-size", "-pcp")
    (each, kind), fraction = memory_of(case), share_of(case)
    if not held or not each or held <= ranks * each * fraction or is_in_lines(_SMALLER, lines, _LONGEST):
        return
    if case.serves_already or tells_of_cache(lines) or tells_of_answers(lines):
        return
    message = (
        f"{whose} at least {held / GIB:,.0f} GiB at {bits:g} bits, and {ranks} "
        f"{'device' if ranks == 1 else 'devices'} {kind} {'has' if ranks == 1 else 'have'} "
        f"{room_words(ranks * each, fraction)}"
    )
    needed = 2 ** math.ceil(math.log2(held / (each * min(fraction, 0.9))))
    remedy = f"take {needed} or more devices"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, flag, message, remedy, at=at)


def _kept_parameters(model: Model) -> int:
    """Without the layers for multi-token prediction, which conversions leave out."""
    architecture = model.architecture
    kept = architecture if architecture is None else replace(architecture, nextn_layers=0)
    return catalog_checkpoint(replace(model, architecture=kept)).parameters
