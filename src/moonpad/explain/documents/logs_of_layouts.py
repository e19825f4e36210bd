"""Of several commands above a quoted log, those that its words, and the sentence in front of it, may be about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Script
from moonpad.explain.grouping import Group, model_of, value_of

_FENCE: Final = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_HEADING: Final = re.compile(r"#{1,6} ")
_LONGEST: Final = 2_000
_MOST_LINES: Final = 300
"""Of a log, above its error."""
_MOST_INTRODUCED: Final = 3
_GIVEN: Final = r"[`'\"]?[ =:]{1,3}[`'\"]?(\d{1,3})\b"
_SIZES: Final = {
    "tp": re.compile(rf"(?<![\w-])(?:--)?(?:tensor[-_]parallel[-_]size|tp[-_]size|tp){_GIVEN}", re.IGNORECASE),
    "dp": re.compile(rf"(?<![\w-])(?:--)?(?:data[-_]parallel[-_]size|dp[-_]size|dp){_GIVEN}", re.IGNORECASE),
}
_OPTIONS: Final = {
    "tp": ("--tensor-parallel-size", "-tp", "--tp", "--tp-size"),
    "dp": ("--data-parallel-size", "-dp", "--dp", "--dp-size"),
}
_OF_FP8: Final = re.compile(r"(?<![a-z0-9])fp8(?![a-z0-9])", re.IGNORECASE)


def of_its_layout(numbers: Sequence[int], groups: Sequence[Group], script: Script, line: int) -> list[int]:
    """Those of the groups that the error at `line` may be of: with the sizes that the sentence in front of the log
    names, and with FP8 weights where the log is of these and only some of the commands have them."""
    script.budget.work(_MOST_LINES // 4, "its error lines")
    log, said = _log_and_words(script.lines, line)
    kept = list(numbers)
    for name, pattern in _SIZES.items():
        sizes = {int(match[1]) for each in said for match in pattern.finditer(each)}
        if len(sizes) == 1:  # of several, a sentence compares them or says what to take instead
            kept = [number for number in kept if _size(groups[number], name) in {None, *sizes}]
    by_name = {number: _OF_FP8.search(model_of(groups[number].commands[0]) or "") is not None for number in numbers}
    if any(_OF_FP8.search(each) for each in log) and len({*by_name.values()}) > 1:
        kept = [number for number in kept if by_name[number] or _is_quantized(groups[number])]
    return kept


def _log_and_words(lines: Sequence[str], line: int) -> tuple[list[str], list[str]]:
    """The lines of the fence up to the error, and those of the paragraph in front of the fence."""
    at = line - 1
    least = max(0, at - _MOST_LINES)
    while at >= least and not _FENCE.match(lines[at][:_LONGEST]):
        at -= 1
    if at < least:
        return [], []
    log = [each[:_LONGEST] for each in lines[at + 1 : line]]
    said: list[str] = []
    for each in reversed(lines[max(0, at - 2 * _MOST_INTRODUCED) : at]):
        if _FENCE.match(each) or _HEADING.match(each) or len(said) == _MOST_INTRODUCED:
            break
        if each.strip():
            said.append(each[:_LONGEST])
    return log, said


def _size(group: Group, name: str) -> int | None:
    """None for one that is not a number here."""
    word = value_of(group.commands[0].argv, _OPTIONS[name])
    if word is None:
        return 1
    return int(word.text) if word.text.isdecimal() and not word.unresolved else None


def _is_quantized(group: Group) -> bool:
    return any(word.text.startswith("--quantization") for word in group.commands[0].argv)
