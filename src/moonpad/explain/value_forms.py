"""Words in the place of a value that are none: names that stand for a number, and slips of the keyboard."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from moonpad.engines.value_checks import number

STANDS_IN: Final = re.compile(
    r"[0-9]*X+[0-9]*|x{2,}|[A-Z]|N[0-9]|[A-Z]+_[A-Z_]+|RANK|PORT|TP|DP|PP|[^\0-\x7f]+[A-Za-z]*"
    r"|CTX|CONTEXT|UB|UBATCH|BATCH|NGL|NUM|COUNT|SIZE|LEN|LENGTH|THREADS|SEQS|EP|~[ ]?[0-9][0-9.,_]*[kKmM]?"
    r"|[a-z][a-z0-9_]*_(?:port|size|rank|num|len)|\[[a-z][a-z0-9]*(?:_[a-z0-9]+)+\]",
    re.ASCII,
)
"""In place of a number, or about so many; a word in another script too, `端口`, the name of a variable without its
dollar, and a name in brackets, `[seed_ports_list]`."""
GLUED: Final = re.compile(r"([^\s-]\S*?)(--[a-z][\w-]+)", re.ASCII)
"""`8111--gpu-memory-utilization`: a value and the next option."""
FILE: Final = re.compile(r"[^\s{}<>]*[^\s{}<>./]\.(?:jinja2?|json|txt|yaml|yml|gbnf)")
"""`chat_template_simple.jinja`."""
COLON: Final = re.compile(r"(--[A-Za-z][\w-]{1,60})[:：](\S+)")
"""`--cpu-infer:16`: an option and its value."""
_JOINED: Final = re.compile(r"\[?\d+(?:\.\d+)?(?:[ ]?,[ ]?\d+(?:\.\d+)?)+,?\]?", re.ASCII)
_TAKES: Final[Mapping[str, str]] = {
    "int": "a whole number",
    "float": "a number",
    "json": "a JSON object",
    "flag": "no value",
}
_HUNDRED: Final = 100


def numbers_apart(kind: str, nargs: str | None, given: str) -> tuple[str, ...]:
    """The numbers of `1,2,4`, of an option that takes several with blanks between them; none of other values."""
    joined = kind in ("int", "float") and nargs in ("+", "*") and _JOINED.fullmatch(given) is not None
    return tuple(filter(None, re.split(r"[,\s]+", given.strip("[] ")))) if joined else ()


def what_it_takes(kind: str, given: str) -> str:
    """Of an option of that kind which takes no such value. `95` for a share of 1 is meant as per cent."""
    percent = number(given.rstrip("%"))
    if kind == "float" and percent is not None and 1 < percent <= _HUNDRED:
        return f"write {percent / _HUNDRED:g}: it takes a share of 1"
    if kind in ("int", "float") and percent is not None and percent <= 0:
        return "it takes a greater number"
    return f"it takes {_TAKES.get(kind, 'another value')}"
