"""Sizes of a layout that the comments of a text tell beside variables whose values it has not, `# TP=4 DP=2`: what
`--set` is proposed with, and nothing is judged by."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.reckoned_sizes import is_of_a_sum

_SIZE: Final = re.compile(
    r"(?<![\w.$/-])(?:(?P<short>tp|pp|dp)(?:[ _-]?size)?"
    r"|(?P<long>tensor|pipeline|data)[ _-]parallel(?:ism)?(?:[ _-](?:size|degree))?)"
    r"[ ]?(?:[=:×x]|of\b|is\b)?[ ]?(?P<size>[1-9]\d{0,2})(?!\w|[.,]\d)",
    re.IGNORECASE,
)
_NAMES: Final = {"tensor": "tp", "pipeline": "pp", "data": "dp"}
_COMMENT: Final = re.compile(r"(?:^|[ \t])(?:#|//)(?P<said>.*)")
_LONGEST: Final = 300


def likely_sizes(command: Command, script: Script) -> dict[str, int]:
    """By our names; those that multiply to the devices of its container, where one is told and that number is known."""
    script.budget.work(len(script.lines) // 4, "what its comments say of the layout")
    sizes = dict(_told(script.lines, script.markdown))
    devices = command.container.devices if command.container is not None else None
    if not devices:
        return sizes
    ranks = sizes.get("tp", devices if "dp" not in sizes else 1) * sizes.get("pp", 1)
    if "dp" not in sizes and ranks <= devices and devices % ranks == 0:
        return {"tp": ranks // sizes.get("pp", 1), **sizes, "dp": devices // ranks}
    if "tp" not in sizes and sizes.get("dp", 1) <= devices:
        return {**sizes, "tp": devices // sizes["dp"] // sizes.get("pp", 1) or 1}
    return sizes


@lru_cache(maxsize=4)
def _told(lines: tuple[str, ...], markdown: bool) -> tuple[tuple[str, int], ...]:
    """Those of which all comments, and all lines of a document, say the same."""
    found: dict[str, set[int]] = {}
    for line in lines:
        if "p" not in line and "P" not in line:
            continue
        comment = _COMMENT.search(line[:_LONGEST])
        said = comment["said"] if comment is not None else line[:_LONGEST] if markdown else ""
        for match in _SIZE.finditer(said):
            if not is_of_a_sum(said, match):
                name = (match["short"] or _NAMES[match["long"].casefold()]).casefold()
                found.setdefault(name, set()).add(int(match["size"]))
    return tuple((name, min(sizes)) for name, sizes in found.items() if len(sizes) == 1)
