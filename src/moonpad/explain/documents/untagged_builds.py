"""A build that a text names by the number of a state without a tag, `vLLM version: v0.1.dev15833+g62d441ee8`: of which
release it is, the number does not say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_UNTAGGED: Final = r"v?(?P<version>0\.[01](?:\.0)?\.?dev[0-9]{2,6}(?:\+g[0-9a-f]{6,12}(?:\.d20[0-9]{6})?)?)(?![\w])"
_BETWEEN: Final = (
    r"[`*_]{0,3}(?:[ ](?:API[ ]server|engine|nightly|build|release|version)){0,2}[`*_]{0,3}"
    r"[ ]{0,3}(?:[:：=|(]|==|is|是|为)?[`*_]{0,3}[ ]{0,3}[`*(]{0,3}"
)
_LONGEST: Final = 2000


def untagged_build(names: Sequence[str], lines: tuple[str, ...]) -> str:
    """The one that the text names for an engine, which is called by one of the patterns; "" for none, or several."""
    return _build_of(tuple(names), lines) if names else ""


@lru_cache(maxsize=4)  # each engine command of a text asks
def _build_of(names: tuple[str, ...], lines: tuple[str, ...]) -> str:
    pattern = re.compile(rf"(?<![\w/-])(?:{'|'.join(names)}){_BETWEEN}{_UNTAGGED}", re.IGNORECASE)
    near = (line[:_LONGEST] for line in lines if "dev" in line[:_LONGEST])
    found = {match["version"] for line in near for match in pattern.finditer(line)}
    return found.pop() if len(found) == 1 else ""
