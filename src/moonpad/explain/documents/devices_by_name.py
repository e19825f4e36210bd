"""Whether devices that a row of a fault names by their name alone (310P) may be those of one command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.commands import Script
from moonpad.explain.documents.device_mentions import mentions, platform_of
from moonpad.explain.documents.device_nearness import sections
from moonpad.explain.documents.ruled_out import is_ruled_out
from moonpad.values.platform import Platform

_OF_DEVICES: Final = re.compile(r"310P|300I|200I|910\(\?:A")
"""In patterns of rows that are about a kind of devices by its name alone."""
_LONGEST: Final = 2000


def are_of_others(pattern: str, script: Script, line: int, *, known: bool) -> bool:
    """Whether the devices that a row's pattern names are not those of the command at `line`: others are `known` to be,
    the text names these only as not supported, or beside others of the same maker and not in the command's own
    section."""
    if _OF_DEVICES.search(pattern) is None:
        return False
    found = [*_lines_with(re.compile(pattern, re.IGNORECASE), script)]
    if known or not found:
        return True
    beside = {
        each.line
        for each in mentions(script.lines, script.placed_hints)
        if each.known and platform_of(each.kind) is Platform.ASCEND
    }
    if not beside:
        return False
    chains = sections(script.lines) if script.markdown else ()
    own = chains[min(line, len(chains)) - 1] if chains else ()
    return not any(at in own or (at not in beside and (chains[at - 1] if chains else ()) == own) for at in found)


def _lines_with(sign: re.Pattern[str], script: Script) -> Iterator[int]:
    for number, line in enumerate(script.lines, 1):
        text = line[:_LONGEST]
        if any(not is_ruled_out(text, *match.span()) for match in sign.finditer(text)):
            yield number
