"""Which of the devices that a text names a command is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from moonpad.explain.device_mentions import Mention

_LONGEST: Final = 2000
"""A longer line is data, not prose."""
_CLOSE: Final = 6
"""Lines above a command in which a kind is surely its own."""
_OWNED: Final = re.compile(
    r"\b(?:at least|minimum|min\.|recommended|required|requires?|needs?)\b.*?\b(?:we|I) (?:have|own|use|run on)\b"
    r"|(?:至少|最低|推荐|需要).*?(?:我们有|我们用|现有)",
    re.IGNORECASE,
)
"""`At least 8x H200 (we have 16x H100)`."""
_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s+(.*)")


@lru_cache(maxsize=1)
def sections(lines: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Of each line of a document, the lines of the headings that it stands under, the outermost first; a heading stands
    under itself."""
    chains: list[tuple[int, ...]] = []
    open_titles: tuple[tuple[int, int], ...] = ()
    fenced = False
    for number, text in enumerate(lines, 1):
        if text.lstrip(" >").startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and (match := _HEADING.match(text[:_LONGEST])):
            level = len(match[1])
            open_titles = (*(title for title in open_titles if title[0] < level), (level, number))
        chains.append(tuple(line for _, line in open_titles))
    return tuple(chains)


def owned(named: Sequence[Mention], lines: Sequence[str]) -> Iterator[Mention]:
    """Without what a line says to be needed, where the same line says what is there."""
    for each in named:
        text = lines[each.line - 1][:_LONGEST] if 0 < each.line <= len(lines) else ""
        is_there = _OWNED.search(text)
        if is_there is None or each.kind.casefold() in text[is_there.end() :].casefold():
            yield each


def sure_mentions(
    named: Sequence[Mention], asked: frozenset[tuple[str, int]], lines: tuple[str, ...], before: int, line: int
) -> Iterator[tuple[Mention, ...]]:
    """Those that the program asks for with the command; those of the comment between it and the command `before`."""
    machines = [each for each in named if (each.machine, each.line) in asked]
    if len({each.kind for each in machines}) == 1:
        yield _nearest(machines, line)
    comments = [each for each in named if before < each.line < line and lines[each.line - 1].lstrip().startswith("#")]
    if before and comments and len({each.kind for each in comments}) == 1:
        yield _nearest(comments, line)


def by_nearness(
    named: Sequence[Mention], elsewhere: Sequence[Mention], lines: tuple[str, ...], line: int, *, document: bool
) -> Iterator[tuple[Mention, ...]]:
    """The mentions that a command at `line` may be about, in groups: those of its own section, of the sections around
    it one by one, last those of other sections, which say something where they agree. Each in the order of nearness:
    above the line from there upwards, then below it."""
    above = (each for each in named if 0 <= line - each.line <= _CLOSE)
    close = [each for each in above if not lines[each.line - 1].lstrip().startswith("|")]
    if close:
        yield _nearest(close, line)
    if not document:
        yield _nearest(named, line)
        return
    chains = sections(lines)
    own = chains[min(line, len(chains)) - 1] if chains else ()
    rest = list(named)
    for depth in range(len(own), -1, -1):
        here = [each for each in rest if chains[min(each.line, len(chains)) - 1] == own[:depth]]
        rest = [each for each in rest if each not in here]
        if here:
            yield _nearest(here, line)
    rest = [each for each in rest if each in elsewhere]
    firsts = {each.line: each.kind for each in reversed(rest)}  # `8x H200/H20` is one of both
    if len(set(firsts.values())) == 1:
        yield _nearest(rest, line)


def _nearest(named: Sequence[Mention], line: int) -> tuple[Mention, ...]:
    return tuple(sorted(named, key=lambda each: (each.line > line, abs(each.line - line))))
