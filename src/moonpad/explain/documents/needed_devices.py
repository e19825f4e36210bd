"""Devices that a text asks for at the least, beside those that it says it runs on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.documents.device_mentions import Mention
from moonpad.explain.documents.device_nearness import place_of, said_of, sections

_LONGEST: Final = 2000
_ROW: Final = re.compile(
    r"[ \t|>*+_-]*(?:GPUs?|(?:graphics[ ])?cards?|devices?|accelerators?|VRAM|显卡)[*_` ]*[|:：]", re.IGNORECASE
)
"""`| **GPU** | 2x RTX PRO 6000 |`, of what a machine is made of."""
_LISTED: Final = re.compile(r"[ \t]*\|[ ]+\d{1,2}[ ]{1,4}(?:NVIDIA|AMD)[ ]|[ \t]*GPU[ ]\d{1,2}:[ ]\w")
"""Of nvidia-smi, with or without `-L`."""
_OF_NEED: Final = re.compile(
    r"[ ]{0,3}#{1,6}[ ](?:.{0,60}[\W_])?(?:requirements?|prerequisites|minimums?|you(?:'ll)?[ ]need)\b"
    r"|[ ]{0,3}#{1,6}[ ].{0,30}(?:要求|需求|最低)",
    re.IGNORECASE,
)
_OF_MACHINE: Final = re.compile(
    r"[ ]{0,3}#{1,6}[ ](?:.{0,60}[\W_])?(?:active|current|our|my|this|test(?:ed)?|actual)[ ](?:\w+[ ]){0,2}"
    r"(?:instance|machine|hardware|server|box|rig|setup|environment|system|node|cluster)\b",
    re.IGNORECASE,
)
_OR_BETTER: Final = re.compile(
    r"[^.;\n|]{0,40}?\b(?:or[ ](?:better|higher|above|more|newer|larger|bigger|equivalent|similar)"
    r"|and[ ](?:up|above))\b|[^。\n|]{0,12}(?:以上|或更)",
    re.IGNORECASE,
)


def without_needed(named: Sequence[Mention], lines: tuple[str, ...], *, document: bool) -> Sequence[Mention]:
    """Without what the text asks for at the least (`GPU: RTX 4090 24 GB or better`, under `Requirements`), where it
    says in another place which devices there are: `our machine`, a row of its parts, what nvidia-smi prints."""
    chains = sections(lines) if document else ()
    roles = {each: _role(each, lines, chains) for each in named}
    return [each for each in named if roles[each] != "needed"] if "here" in roles.values() else named


def _role(each: Mention, lines: tuple[str, ...], chains: Sequence[tuple[int, ...]]) -> str:
    text = lines[each.line - 1][:_LONGEST]
    words = said_of(each, text)
    if words == "owned" or _LISTED.match(text):
        return "here"
    end = place_of(each.kind, text)[1]
    if words or (end >= 0 and _OR_BETTER.match(text, end)):
        return "needed"
    titles = [lines[number - 1][:_LONGEST] for number in chains[each.line - 1]] if chains else []
    if titles and _OF_NEED.match(titles[-1]):
        return "needed"
    of_machine = bool(titles) and _OF_MACHINE.match(titles[-1]) is not None
    return "here" if of_machine and each.machine is not None and _ROW.match(text) else ""
