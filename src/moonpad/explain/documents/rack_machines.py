"""`16×B200 of a P6e-GB200`, `16×B200 multi-node (P6e-GB200)`: chips of a rack whose machines have four each, all joined
by fast links."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = r"[ ](?!(?:and|or|vs|versus|than|with|to|from|instead|ahead|place|outside|short)\b)[\w-]{1,12}"
_OF_RACK: Final = re.compile(
    rf"(?<![\w.])(?P<count>\d{{1,3}})[ ]?[x×*][ ]?(?P<kind>B[23]00)(?:{_WORD}){{0,3}}?"
    r"[ ](?:(?:of|in|on)[ ](?:(?:an?|the|one)[ ])?(?:\w{1,6}-)?|[(（]\w{1,6}-)G(?P=kind)\b"
)


def racks_in(text: str) -> dict[str, str]:
    """Machine as it is written, `16xB200` → the one that is meant, `16xGB200`."""
    found = _OF_RACK.finditer(text) if "GB" in text else ()
    return {f"{match['count']}x{match['kind']}": f"{match['count']}xG{match['kind']}" for match in found}
