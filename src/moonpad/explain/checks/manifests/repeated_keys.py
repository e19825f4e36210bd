"""An option that stands twice among the keys of one mapping: the second takes the place of the first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_KEY: Final = re.compile(r"(?P<indent>[ ]*)(?P<name>[A-Za-z][\w.-]{1,60})[ ]*:(?=[ ]|$)(?P<value>.*)")
_FOLDED: Final = re.compile(r"[ ]+[|>][+-]?[ ]*(?:#.*)?")
_LONGEST: Final = 2000
_MOST: Final = 200
"""Lines of one mapping."""


def repeated_key(case: Case) -> Iterator[Remark]:
    """`compilation-config: …` in two lines of the mapping that holds the options of the command."""
    command = case.commands[0]
    case.script.budget.work(len(command.argv) * _MOST // 8, "the keys of its options")
    told: set[str] = set()
    for at, word in enumerate(command.argv):
        if not word.text.startswith("--") or word.line <= 0 or word.text in told:
            continue
        found = _twice(word.text, word.line, case.script.lines)
        if found is None:
            continue
        told.add(word.text)
        first, second, name, lost = found
        message = (
            f"{name} stands twice among the same keys, {case.script.where(first)} and "
            f"{case.script.where(second)}: a reader of YAML keeps the second without a word, and {shortened(lost, 60)} "
            "of the first is lost"
        )
        remedy = "put both values into one"
        yield make_remark(Severity.WARNING, Code.REDUNDANT_FLAG, word.text, message, remedy, at=at)


def _twice(option: str, line: int, lines: Sequence[str]) -> tuple[int, int, str, str] | None:
    """The two lines, the key, and the value of the first; `line`: that of the value that counts, which may begin below
    its key."""
    own = next((each for each in (line, line - 1) if (key := _key(each, lines)) and _is_of(key["name"], option)), 0)
    last = _key(own, lines) if own else None
    if last is None:
        return None
    for number in range(own - 1, max(0, own - _MOST), -1):
        text = lines[number - 1][:_LONGEST]
        blank = len(text) - len(text.lstrip(" "))
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        if blank < len(last["indent"]) or (text.lstrip().startswith(("- ", "```")) and blank <= len(last["indent"])):
            return None
        key = _key(number, lines)
        if key is None or key["indent"] != last["indent"] or key["name"] != last["name"]:
            continue
        value, kept = key["value"].strip(), last["value"].strip()
        if value and value != kept and not _FOLDED.fullmatch(key["value"]):
            return number, own, key["name"], value
        return None
    return None


def _key(number: int, lines: Sequence[str]) -> re.Match[str] | None:
    return _KEY.fullmatch(lines[number - 1][:_LONGEST]) if 0 < number <= len(lines) else None


def _is_of(name: str, option: str) -> bool:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return snake.lower().replace("_", "-") == option.lstrip("-")
