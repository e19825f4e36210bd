"""All memory of a machine whose devices share it with the processors, against the weights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
_LARGEST: Final[Mapping[str, int]] = {
    **{"m1 max": 64, "m2 max": 96, "m3 max": 128, "m4 max": 128, "m5 max": 128, "m4 pro": 64},
    **{"m1 ultra": 128, "m2 ultra": 192, "m3 ultra": 512},
    **{"mac mini": 64, "macbook pro": 128, "macbook air": 32, "mac pro": 192, "mac studio": 512, "mac": 512},
}
"""The most memory in GB with which each is sold: https://support.apple.com/docs, the technical specifications."""
_NAMED: Final = re.compile(
    r"(?<![\w-])(?:(?P<chip>M[1-5][ ](?:Ultra|Max|Pro))|(?P<mac>Mac(?:[ ](?:Studio|Pro|mini)|Book[ ](?:Pro|Air))?))"
    r"(?![\w.])"
    r"(?!(?:[ ]?OS|[ ]and|,|/|[ ]or|[ ]?[x×])[ ]?(?:Linux|Windows|PC)?)",
)
_RUNS_THERE: Final = re.compile(
    r"\blo[ck]al|本地|ローカル|\bGGUF\b|\bruns?\b|\brunning\b|läuft|laufen|運行|运行", re.IGNORECASE
)
_ASKS_FROM_THERE: Final = re.compile(
    r"\bfrom\b|\bclient|\bcurl\b|\bssh\b|\bbrowser\b|\bbrew\b|\bLinux\b|\bWindows\b|\bconnect|\btunnel", re.IGNORECASE
)
_LARGE_MEMORY: Final = re.compile(r"(?<![\w.])(?:[5-9]\d\d|[1-9]\d{3})[ ]?Gi?B\b|(?<![\w.])[1-9](?:\.\d)?[ ]?TB\b")
_OF_MEMORY: Final = re.compile(r"\bD?RAM\b|\bmemory\b|Arbeitsspeicher|Hauptspeicher|内存|メモリ", re.IGNORECASE)
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
    if stated:
        size, has = max(stated), f"the {stated[max(stated)]} of the text has"
    else:
        kind, size = _largest_named(case)
        has = f"the text names a {kind}, the largest of which has"
    if not size or checkpoint.total_bytes <= size * GIB:
        return
    message = (
        f"the weights of {checkpoint.name} are {checkpoint.total_bytes / GIB:,.0f} GiB, and {has} {size} GB for "
        "everything: what has no room is read from the disk with every token"
    )
    remedy = f"take weights of fewer bits: less than {size} GB with the KV cache and the system"
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, "memory", message, remedy)


def _largest_named(case: Case) -> tuple[str, int]:
    """`local test on a Mac`: the kind with the most memory that the text names for the server, and how much that is at
    most. Of a Mac from which somebody only asks nothing is said, nor where the text has a larger machine."""
    named: dict[str, int] = {}
    for number, line in enumerate(case.script.lines, 1):
        text = line[:_LONGEST]
        if _LARGE_MEMORY.search(text) and _OF_MEMORY.search(text):
            return "", 0
        machine = _NAMED.search(text) if "M" in text else None
        if machine is None or _SEVERAL.search(text) or not case.script.says_of(number, case.commands[0].line):
            continue
        kind = machine["chip"] or machine["mac"]
        if _ASKS_FROM_THERE.search(text) or not (machine["chip"] or _RUNS_THERE.search(text)):
            continue
        if (most := _LARGEST.get(kind.casefold())) is not None:
            named[kind] = most
    return max(named.items(), key=lambda item: item[1], default=("", 0))
