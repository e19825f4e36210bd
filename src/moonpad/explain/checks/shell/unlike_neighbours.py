"""One name in a list of devices that is written otherwise than all its neighbours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

_ITEM: Final = re.compile(r"(?P<stem>[A-Za-z][\w.-]*?)(?P<number>\d{1,3})(?P<port>:\d{1,2})?")
_SEPARATORS: Final = re.compile(r"[_.-]")
_LIST: Final = re.compile(r"[=^]{0,2}(?P<items>[A-Za-z][\w.:-]{1,60}(?:,[ ]?[A-Za-z][\w.:-]{1,60}){2,63})")
_LEAST: Final = 2
"""Neighbours that are written alike."""


def unlike_neighbours(case: Case) -> Iterator[Remark]:
    """`mlx5_bond_0,mlx5_bond_1,mlx5_bond2`: the names differ in nothing but a separator."""
    for number, command in enumerate(case.commands):
        for at, word in enumerate(command.argv):
            value = word.text.partition("=")[2] if word.text.startswith("--") else word.text
            if (odd := _odd_one(value)) is not None:
                flag = word.text.partition("=")[0] if value != word.text else command.argv[at - 1].text if at else ""
                message, remedy = _said(*odd)
                where = shortened(flag if flag.startswith("-") else odd[0])
                remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy, at=at)
                yield replace(remark, command=number)
        for name, word in command.env.items():
            if (odd := _odd_one(word.text.removeprefix(f"{name}=").strip("'\""))) is not None:
                message, remedy = _said(*odd)
                finding = Finding(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy)
                yield Remark(finding, command=number, variable=name)


def _said(odd: str, meant: str, neighbour: str) -> tuple[str, str]:
    message = f"{odd} is written otherwise than its neighbours ({neighbour}): no device may have that name"
    return message, f"write {meant}, if that is the device"


def _odd_one(value: str) -> tuple[str, str, str] | None:
    """The name, what it would be if it were written like the others, and one of those."""
    listed = _LIST.fullmatch(value)
    items = [item.strip() for item in listed["items"].split(",")] if listed else []
    matches = [match for item in items if (match := _ITEM.fullmatch(item)) is not None]
    if len(matches) <= _LEAST or len(matches) != len(items):
        return None
    stems = Counter(match["stem"] for match in matches)
    if len(stems) != 2:
        return None
    (common, count), (rare, once) = stems.most_common()
    if once != 1 or count < _LEAST or _plain(common) != _plain(rare):
        return None
    odd = next(match for match in matches if match["stem"] == rare)
    meant = f"{common}{odd['number']}{odd['port'] or ''}"
    return (odd[0], meant, next(each[0] for each in matches if each is not odd)) if meant not in items else None


def _plain(stem: str) -> str:
    return _SEPARATORS.sub("", stem).casefold()
