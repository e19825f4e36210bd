"""A release that a text bounds from above: `pip install "vllm<0.20"`, and `we still run an SGLang before 0.5.11`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from moonpad.values.versions import is_final, order

_NUMBER: Final = r"v?(?P<version>\d+\.\d+(?:\.\d+)?)(?![\w.]*\d)"
_LONGEST: Final = 500


@lru_cache(maxsize=16)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    name = "|".join(re.escape(each) for each in names)
    pin = re.compile(
        rf"\binstall\b[^\n]*?(?<![\w.-])(?:{name})(?:\[[\w,-]+\])?[ ]?(?:>=?[ ]?[\d.]+,[ ]?)?<[ ]?{_NUMBER}",
        re.IGNORECASE,
    )
    spoken = re.compile(
        r"\b(?:still|we|I|our|runs?|running|using|installed|stuck)\b[^.;:\n]{0,60}?"
        rf"(?<![\w.-])(?:{name})(?:[ ](?:from|of|release|version|build|that is))*[ ]"
        rf"(?:before|older than|prior to|earlier than|below|<)[ ]?{_NUMBER}",
        re.IGNORECASE,
    )
    return pin, spoken


@lru_cache(maxsize=8)  # each engine command of a text asks
def bound_of(names: tuple[str, ...], lines: tuple[str, ...]) -> str:
    """The release below which the one in use is, by these names of its engine; "" where none is given, or several."""
    found = {
        match["version"]
        for line in lines
        if "<" in line or any(char.isdigit() for char in line)
        for pattern in _patterns(names)
        for match in pattern.finditer(line[:_LONGEST])
    }
    return found.pop() if len(found) == 1 else ""


def last_below(bound: str, recorded: Sequence[str]) -> str:
    """The newest release that is older than the bound; "" where none is recorded."""
    older = [version for version in recorded if is_final(version) and order(version) < order(bound)]
    return max(older, key=order, default="")
