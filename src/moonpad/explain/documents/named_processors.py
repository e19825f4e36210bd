"""The processors of the host that a text names, `Intel(R) Xeon(R) Gold 6430 x2`, and the cores that they have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from moonpad.catalog.processors import ProcessorRow, processor_named

_SIGN: Final = r"(?:[x×*](?![a-z])|颗|路|个|块|sockets?|CPUs?)"
_COUNTED: Final = (
    rf"(?:(?<![\w.])(?P<before>[1248](?=[ ]?{_SIGN})|single|two|dual|一(?={_SIGN})|单|两|双)"
    rf"[ -]?{_SIGN}?[ ]?(?:of[ ])?)?"
)
_MAKER: Final = r"(?:(?:Intel|AMD|英特尔)(?:\(R\)|®)?[ ]?)?"
_FILLED: Final = r"(?:\((?:R|TM)\)|[®™ -]|Scalable|Gold|Platinum|Silver|PRO|CPU|Processor|处理器){0,8}"
_BEHIND: Final = (
    r"(?![\w.])(?:[ ]?(?:CPUs?|Processors?|处理器|\d{1,3}-Core Processor))?(?:[ ]?@[ ]?\d\.\d{1,2}[ ]?GHz)?"
    r"[ ]{0,2}[(（]?"
    r"(?:[x×*][ ]?(?P<behind>[1248])(?![\w.])|(?P<double>双路|双颗|两颗|dual\b))?"
)
_NAMED: Final = re.compile(
    rf"{_COUNTED}{_MAKER}(?:"
    rf"(?:Xeon|至强|Gold|Platinum|Silver|铂金|金牌){_FILLED}(?P<number>\d{{4}}[A-Z]{{0,3}}\+?)"
    rf"|(?:(?:Xeon|至强){_FILLED})?(?<![A-Z\d-])"
    rf"(?P<older>E[57][ -]?\d{{4}}[A-Z]{{0,2}}[ -]?v[2-4]|W\d?-\d{{4}}[A-Z]{{0,2}})"
    rf"|(?P<amd>EPYC|霄龙|Threadripper){_FILLED}(?P<of_amd>\d[0-9A-Z]{{2,3}}\d?[A-Z]{{0,2}})"
    rf"){_BEHIND}",
    re.IGNORECASE,
)
_SIGNS: Final = (
    *("xeon", "epyc", "threadripper", "gold", "platinum", "silver", "至强", "霄龙", "铂金", "金牌"),
    *("e5", "e7", "w3-", "w5-", "w7-", "w9-"),
)
_WORDS: Final = {"single": 1, "一": 1, "单": 1, "two": 2, "dual": 2, "两": 2, "双": 2}


class NamedProcessors(Struct, frozen=True):
    """`count` is 0 where the text does not say how many there are."""

    name: str
    cores_of_one: int
    most: int
    count: int


def named_processors(lines: Iterable[str], sockets: int = 0) -> NamedProcessors | None:
    """None where the lines name none that is recorded, or several kinds. `sockets`: as the text says it elsewhere."""
    found: dict[str, tuple[str, ProcessorRow]] = {}
    counts: set[int] = set()
    for line in lines:
        if not any(sign in line.casefold() for sign in _SIGNS):
            continue
        for match in _NAMED.finditer(line):
            name = match["number"] or match["older"] or match["of_amd"]
            maker = "amd" if match["amd"] else "intel"
            row = processor_named(maker, name) or processor_named(maker, f"{name}+")
            if row is None:
                return None
            found[name.casefold()] = (name, row)
            counts |= {_count(match)} - {0}
    if len(found) != 1 or len(counts) > 1:
        return None
    ((name, row),) = found.values()
    return NamedProcessors(name, row.cores, row.most, min(row.most, counts.pop() if counts else sockets))


def _count(match: re.Match[str]) -> int:
    if match["double"]:
        return 2
    written = (match["before"] or match["behind"] or "0").casefold()
    return _WORDS.get(written) or int(written)
