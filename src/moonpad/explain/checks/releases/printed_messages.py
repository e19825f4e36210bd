"""Messages that a script prints in case of a failure, `echo "Server failed to start"`: not complaints of its author."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

_LONGEST: Final = 1_200
"""Characters of a line that are looked at."""
_BEGINS: Final = r"(?:^|[;&|{(]|\b(?:then|else|do))[ \t]*"
_PROGRAM: Final = (
    r"(?:echo|printf|die|(?:log|err|error|warn|fail|info|msg)_\w{1,20}|\w{1,20}_(?:log|err|error|warn|msg))"
)
_DEFINED: Final = re.compile(
    r"^[ \t]*(?:function[ \t]+(?P<named>[A-Za-z_]\w{0,40})|(?P<plain>[A-Za-z_]\w{0,40})[ \t]*\([ \t]*\))", re.MULTILINE
)
"""A function of the script."""
_MOST_DEFINED: Final = 40
_HOLDS: Final = re.compile(
    rf"{_BEGINS}(?:(?:local|export|readonly|declare)[ \t]+)?(?P<name>[A-Za-z_]\w{{0,40}})\+?=(?P<quote>[\"'])"
)
"""`message="Server failed to start"`, which is used below."""
_USED: Final = re.compile(r"\$\{?([A-Za-z_]\w{0,40})")
_CALLS: Final = re.compile(
    r"(?:^|[;:{(])[ \t]*(?:(?:print|\w{1,20}\.(?:error|warning|warn|info|critical|exception|fatal|debug|log))\("
    r"|(?:raise|throw(?: new)?)[ ](?:\w{1,40}\.)*\w{1,60}\()[ \t]*[rbf]?[\"'`]"
)
"""`logger.error("…")`, `raise RuntimeError("…")`, `console.error("…")`."""
_HERE: Final = re.compile(r"^[ \t]*(?:cat|tee|read|mail)\b[^#\n]*<<-?[ \t]*([\"']?)(?P<end>\w{1,40})\1")
_MOST_LINES: Final = 40
"""Of one message; where no end is found within these, it has one line."""


@lru_cache(maxsize=2)  # each check of a text asks
def printed_messages(lines: tuple[str, ...]) -> frozenset[int]:
    """The numbers of their lines, from 1."""
    prints = _prints(tuple(_defined(lines)))
    used = frozenset(name for line in lines if "$" in line for name in _USED.findall(line[:_LONGEST]))
    printed: set[int] = set()
    at = 0
    while at < len(lines):
        count = _lines_of_message(lines, at, prints, used)
        printed.update(range(at + 1, at + 1 + count))
        at += max(1, count)
    return frozenset(printed)


def _defined(lines: Sequence[str]) -> Iterator[str]:
    """The first functions of the script, by name."""
    found = (_DEFINED.match(line[:_LONGEST]) for line in lines if "(" in line or "function" in line)
    yield from islice((match["named"] or match["plain"] for match in found if match is not None), _MOST_DEFINED)


@lru_cache(maxsize=64)
def _prints(functions: tuple[str, ...]) -> re.Pattern[str]:
    """`echo "…"`, `log_error "…"`, `echo >&2 '…'`, `printf -- …`, and what a function of the script gets in quotes."""
    options = r"(?:[ \t]+-[a-zA-Z]{1,3}){0,3}"
    to_file = r"(?:[ \t]*[12]?>&?[ \t]*[\w/.]+)?"
    own = "|".join(("(?!)", *map(re.escape, functions)))
    return re.compile(
        rf"{_BEGINS}(?:(?:builtin|command)[ ])?(?:{_PROGRAM}{options}{to_file}{options}[ \t]+(?:(?P<quote>[\"'])|[-$])"
        rf"|(?:{own})[ \t]+(?P<own>[\"']))"
    )


def _lines_of_message(lines: Sequence[str], at: int, prints: re.Pattern[str], used: frozenset[str]) -> int:
    """0 where none begins on this line."""
    line = lines[at][:_LONGEST]
    if (here := _HERE.match(line)) is not None:
        return next((n + 1 for n, each in _following(lines, at) if each.strip() == here["end"]), 0)
    held = _HOLDS.search(line)
    begins = prints.search(line) or (held if held is not None and held["name"] in used else None)
    if begins is None:
        return 1 if _CALLS.search(line) else 0
    group = next((name for name in ("quote", "own") if begins.groupdict().get(name)), "")
    if not group or not _is_open(line[begins.start(group) :], quote := begins[group]):
        return 1
    return next((n + 1 for n, each in _following(lines, at) if _is_open(each[:_LONGEST], quote)), 1)


def _following(lines: Sequence[str], at: int) -> Sequence[tuple[int, str]]:
    return tuple(enumerate(lines[at + 1 : at + 1 + _MOST_LINES], 1))


def _is_open(text: str, quote: str) -> bool:
    """Whether a quotation that begins in it goes on behind it; of a line inside of one, whether it ends there."""
    return (text.count(quote) - text.count(f"\\{quote}")) % 2 == 1
