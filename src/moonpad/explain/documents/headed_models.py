"""Lines of a page that speak of another model of the family than the headings above a command do."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from moonpad.explain.documents.device_nearness import sections

_LONGEST: Final = 2000
_GENERATION: Final = re.compile(r"Kimi[-_ ]?K?(?P<number>[23](?:[._][0-9])?)(?![0-9])", re.IGNORECASE | re.ASCII)
_REFERS: Final = re.compile(
    r"^[ \t]*>|\b(?:see (?:also|the)|refer(?:s|red)? to|compare[ds]?|unlike|similar to|based on|same as|taken from)\b"
    r"|参考|参见|参照|类似|相比",
    re.IGNORECASE,
)
"""A quote, or words that lead to something else."""


def lines_of_other_models(lines: tuple[str, ...], line: int) -> frozenset[int]:
    """Where the innermost heading above `line` that names a model names one alone: lines of other sections, and those
    that only refer to something, which name other generations and not this one. `Kimi K2` may be any `Kimi-K2.5`."""
    chains = sections(lines)
    own = chains[min(line, len(chains)) - 1] if chains else ()
    named = next((found for at in reversed(own) if (found := _generations(lines[at - 1]))), frozenset())
    if len(named) != 1:
        return frozenset()
    (wanted,) = named
    return frozenset(
        at
        for at, text in enumerate(lines, 1)
        if at != line
        and (found := _generations(text))
        and not any(each.startswith(wanted) for each in found)
        and (chains[at - 1] != own[: len(chains[at - 1])] or _REFERS.search(text[:_LONGEST]))
    )


@lru_cache(maxsize=4096)  # each command of a page asks for the same lines
def _generations(text: str) -> frozenset[str]:
    if "imi" not in text[:_LONGEST].casefold():
        return frozenset()
    return frozenset(match["number"].replace("_", ".") for match in _GENERATION.finditer(text[:_LONGEST]))


def is_alone(name: str, lines: tuple[str, ...], line: int) -> bool:
    """Whether the innermost heading above `line` that names a model, else the whole text, names no other generation
    than that of `name`."""
    chains = sections(lines)
    own = chains[min(line, len(chains)) - 1] if chains else ()
    headed = next((found for at in reversed(own) if (found := _generations(lines[at - 1]))), frozenset())
    return (headed or frozenset().union(*map(_generations, lines))) == _generations(name) != frozenset()
