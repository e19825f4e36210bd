"""Values of another kind than a key of an option file takes: `64GB` for a number, `true` for a table, a text for a
list. The data are catalog/option_file_values.py."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.option_file_values import OptionFileKind, option_file_kinds
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.options.option_file_values import of_the_file
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_WITH_UNIT: Final = re.compile(
    r"[\d.,_]*\d[ ]?(?:%|[kmgt]i?b?|b|tokens?|ms|s)|\d{1,3}(?:,\d{3})+", re.IGNORECASE | re.ASCII
)
_PART: Final = re.compile(r"\d*\.0*[1-9]\d*", re.ASCII)
_SWITCHES: Final = frozenset({"true", "false", "yes", "no", "on", "off", "t", "f", "y", "n", "1", "0"})
_TABLE_WORDS: Final = re.compile(r"true|false|\d+(?:\.\d+)?|[A-Za-z][\w-]*|\[.*\]", re.ASCII | re.DOTALL)
_LIST_WORDS: Final = re.compile(r"true|false|\d+(?:[, ]+\d+)*", re.ASCII)
_WANTED: Final = {
    "whole": "a whole number without a unit",
    "number": "a number",
    "switch": "true or false",
    "list": "a list",
    "table": "a table with keys of its own",
}
_SLOTS: Final = "moe_config.load_balancer.num_slots"
_TWO: Final = 2
_REMEDIES: Final = {
    "whole": "write the number out",
    "number": "write a plain number",
    "switch": "write true or false",
    "list": "write [1, 2, 4]: brackets, and no quotes",
    "table": "write its keys below it, or {} for what is the default",
}


def kinds_of_keys(case: Case) -> Iterator[Remark]:
    """An error where a release is named, whose records are near; else a warning."""
    options, at = of_the_file(case)
    if not options:
        return
    for row in option_file_kinds().values():
        if case.engine.name not in row.engines:
            continue
        for key in row.keys:
            value = options.get(key, "")
            if not value or value == "null" or unresolved(value) or not _is_another(row, value):
                continue
            message = f"{shortened(value, 40)} is not {_WANTED[row.kind]}, which {key} takes: the start ends in a "
            message += "ValidationError"
            severity = Severity.ERROR if case.version else Severity.WARNING
            yield make_remark(severity, Code.INVALID_VALUE, key, message, _REMEDIES[row.kind], at=at)


def slots_of_balancer(case: Case) -> Iterator[Remark]:
    """As many slots on each rank of the experts."""
    options, at = of_the_file(case)
    slots, ranks = whole(options.get(_SLOTS, "")) or 0, case.first.layout.ep
    if not slots or ranks < _TWO or not case.laid_out or slots % ranks == 0:
        return
    message = f"{slots} slots are not shared out over {ranks} ranks of experts: the start ends (num_slots must be "
    message += "divisible by ep_size)"
    remedy = f"write num_slots: {(slots // ranks + 1) * ranks}"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _SLOTS, message, remedy, at=at)


def _is_another(row: OptionFileKind, value: str) -> bool:
    """Only what no release can take: a word of its own, as `auto`, may have come with one."""
    text = value.strip()
    if row.kind == "whole":
        return _WITH_UNIT.fullmatch(text) is not None or _PART.fullmatch(text) is not None
    if row.kind == "number":
        return _WITH_UNIT.fullmatch(text) is not None
    if row.kind == "switch":
        return text.casefold() not in _SWITCHES and (" " in text or text.isdigit() or text[:1] in "[{")
    words = _LIST_WORDS if row.kind == "list" else _TABLE_WORDS
    return words.fullmatch(text) is not None


OPTION_FILE_KIND_CHECKS: Final = (kinds_of_keys, slots_of_balancer)
