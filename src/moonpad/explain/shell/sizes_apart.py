"""A command whose lines are set apart by comments on sizes of memory or on devices, `# 24 GB VRAM:`, `# 48 GB VRAM:`:
what stands below one is taken in the place of what stands below another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, pairwise
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.programs import is_server
from moonpad.values.records import replace

_DEVICE: Final = r"(?:\d[ ]?[x×][ ]?)?(?:[ABHLV]\d{2,3}|G?B\d{3}|MI\d{3}X?|RTX[ ]?(?:PRO[ ]?)?\d{4}|[345]090|910[BC])S?"
_FOR: Final = re.compile(
    r"[ \t]*#+[ ]*(?:(?:for|on|with|if|you|have|has|option|when|using|use|a|an|the|case|profile)[ :]+){0,4}"
    rf"(?:(?:\d{{1,3}}[ ]?[x×][ ]?)?(?P<size>\d{{1,3}})[ ]?G(?:i?B)?\b|(?P<device>{_DEVICE})\b)"
    r"(?:[ ](?:of[ ])?(?:VRAM|GPUs?|cards?|memory|each|per GPU))*[ ]?(?:\([^()]{0,40}\))?[ ]?[:,]?[ \t]*\\?$",
    re.IGNORECASE,
)
_LONGEST: Final = 200
_TALLEST: Final = 200


def with_sizes_apart(commands: Iterable[Command], lines: Sequence[str], first_condition: int) -> Iterator[Command]:
    """Each such command once for each size, as branches of a condition whose number is not below `first_condition`."""
    conditions = count(first_condition)
    for command in commands:
        groups = _groups(command, lines) if is_server(command.program) else []
        condition = next(conditions) if groups else 0
        for number, (begin, end) in enumerate(groups):
            others = [each for each in groups if each != (begin, end)]
            kept = [word for word in command.argv if not any(first <= word.line < last for first, last in others)]
            yield replace(command, argv=tuple(kept), arms=(*command.arms, (condition, number)))
        if not groups:
            yield command


def _groups(command: Command, lines: Sequence[str]) -> list[tuple[int, int]]:
    """The lines of each size, the last of each not among them, where all say something else of an option that the
    others have too."""
    places = [word.line for word in command.argv if word.line]
    first, last = min(places, default=0), max(places, default=0)
    if not 0 < last - first < _TALLEST:
        return []
    marks = {
        number: (match["size"] or match["device"]).casefold()
        for number in range(first + 1, min(last, len(lines)) + 1)
        if (match := _FOR.match(lines[number - 1][:_LONGEST])) is not None
    }
    begins = [*marks, last + 1]
    if len(marks) < 2 or len({*marks.values()}) < len(marks):
        return []
    groups = [(begin, end) for begin, end in pairwise(begins)]
    options = [
        {word.text.partition("=")[0] for word in command.argv if begin <= word.line < end and word.text.startswith("-")}
        for begin, end in groups
    ]
    return groups if set.intersection(*options) else []
