"""All memory of a machine whose devices share it with the processors, against the weights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

_KIND: Final = (
    r"(?P<kind>M[1-5][ ](?:Ultra|Max)|Mac Studio|Mac Pro|MacBook Pro|Strix Halo|Ryzen AI Max\+?|gfx1151|Radeon 8060S)"
)
_SIZE: Final = r"(?<![\w.~])(?P<size>\d{2,3})[ ]?Gi?B(?![\w/])(?! (?:used|free))"
_FORMS: Final = (
    re.compile(rf"\b{_KIND}\b(?:(?![;|]|\. ).){{0,40}}?{_SIZE}", re.IGNORECASE),
    re.compile(rf"{_SIZE}[ ](?:[\w-]+[ ]){{0,3}}?{_KIND}\b", re.IGNORECASE),
)
_SIZES: Final = frozenset({16, 24, 32, 36, 48, 64, 96, 128, 192, 256, 512})
_LONGEST: Final = 400
_SEVERAL: Final = re.compile(r"--rpc\b|\b(?:two|three|four|[2-8][ ]?[x×]|cluster of)[ ]", re.IGNORECASE)


def unified_memory(case: Case) -> Iterator[Remark]:
    """`M3 Ultra 512GB`, and weights that are larger: they are read from the disk with every token."""
    checkpoint = case.checkpoint
    if checkpoint is None or case.cluster is not None or case.devices_asked or not case.engine.facts.gguf_only:
        return
    if is_fragment(case.commands[0]) or case.option("--rpc") is not None:
        return
    case.script.budget.once("memory of machines", len(case.script.lines), "the memory of its text")
    stated = {
        int(found["size"]): found["kind"]
        for number, line in enumerate(case.script.lines, 1)
        if "G" in line[:_LONGEST] and case.script.says_of(number, case.commands[0].line)
        for form in _FORMS
        for found in form.finditer(line[:_LONGEST])
        if int(found["size"]) in _SIZES and not _SEVERAL.search(line[max(0, found.start() - 20) : found.start()])
    }
    if not stated or checkpoint.total_bytes <= max(stated) * GIB:
        return
    message = (
        f"the weights of {checkpoint.name} are {checkpoint.total_bytes / GIB:,.0f} GiB, and the {stated[max(stated)]} "
        f"of the text has {max(stated)} GB for everything: what has no room is read from the disk with every token"
    )
    remedy = f"take weights of fewer bits: less than {max(stated)} GB with the KV cache and the system"
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, "memory", message, remedy)
