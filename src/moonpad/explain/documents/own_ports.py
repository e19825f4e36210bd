"""A build of somebody's own that a text says it runs: `the SM80 port supports …`, `our fork of vLLM`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from moonpad.engines.foreign_names import MARKING

_ENGINE: Final = "|".join(MARKING)
_DEVICES: Final = (
    r"sm[ _-]?\d{2,3}[a-z]?|gfx\d\w{2,4}|[AHV][18]00|T4|MI\d{2,3}X?|Volta|Turing|Ampere|Ada|Hopper|Blackwell|RDNA ?\d"
)
_PORT: Final = re.compile(
    rf"\b(?P<devices>{_DEVICES})[ -](?:port|backport|fork)\b(?![ ]?[=:]?[ ]?\d)"
    rf"|\b(?:port|backport)(?:ed)? (?:of [^.\n]{{1,40}} )?(?:to|for) (?:the )?(?P<target>{_DEVICES})\b"
    rf"|\b(?:our|my|this) (?:own |patched |private ){{0,2}}(?:fork|port) of (?:the )?(?:{_ENGINE})\b"
    rf"|\b(?:our|my) (?:own )?(?:{_ENGINE})[ -](?:fork|port|branch|build)\b"
    rf"|\b(?:patched|modified|forked|(?:self|custom|home)-?built)[ -](?:{_ENGINE})\b(?![ ]?[/:.-]\w)"
    rf"|(?:魔改|自编译|移植)(?:版|的)?[ ]?(?:{_ENGINE})|(?:{_ENGINE})[ ]?(?:魔改|自编译|移植)版",
    re.IGNORECASE,
)
_NOT_THERE: Final = re.compile(
    r"\b(?:no|not|without|should|need(?:s|ed)?|until|unless|if|wait\w*|pending|missing|lacks?|wish|want|would|could"
    r"|is there|plan(?:s|ned)?|todo|instead of)\b|n['’]t\b|[?？]|没有|尚未|需要",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(r"[.!;。！；](?:\s|$)")
_BLANKS: Final = re.compile(r"\s+")
_LONGEST: Final = 2_000
_MAY: Final = re.compile(r"port|fork|patched|modified|built|branch|build|魔改|自编译|移植", re.IGNORECASE)


@lru_cache(maxsize=4)  # asked for each remark of a text
def own_port(lines: tuple[str, ...]) -> tuple[str, bool]:
    """What it is called where it is first named, and whether it is for devices that releases may not serve; ("", False)
    where the text runs none."""
    for line in lines:
        if not _MAY.search(line[:_LONGEST]):
            continue
        for sentence in _ENDS.split(line[:_LONGEST]):
            match = _PORT.search(sentence)
            if match is not None and not _NOT_THERE.search(sentence):
                return _BLANKS.sub(" ", match[0]), bool(match["devices"] or match["target"])
    return "", False
