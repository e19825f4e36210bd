"""What the terms of a row stand for in a command: the value of an option, of a key of its JSON, of a variable, of a
size, and the numbers that rows compare."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from moonpad.catalog.former_options import same_options
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import as_json, unresolved, vllm_tokens, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.equal_options import written_with_dots
from moonpad.explain.unknowns import CONTEXT

COMPARES: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "!=": lambda left, right: left != right,
    ">=": lambda left, right: left >= right,
    "<=": lambda left, right: left <= right,
    "%": lambda left, right: right > 0 and left % right != 0,
}
_JOINS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "*": lambda left, right: left * right,
    "+": lambda left, right: left + right,
    "/": lambda left, right: left // max(right, 1),
}
_JOIN: Final = re.compile(r"([*+/])")
_SIZES: Final = ("tp", "pp", "dp", "dcp")
_SEVERAL: Final = re.compile(r"(max|sum|count)\((.+)\)")
_OF_SEVERAL: Final[Mapping[str, Callable[[list[int]], int]]] = {"max": max, "sum": sum, "count": len}
_CONTEXT: Final = "context"
_LAYERS: Final = "layers"
_MACHINE: Final = "machine"
UNKNOWN: Final = "\0"
"""The value of a term that is there, and of which no more is known."""


def pair_of(case: Case, comparison: str, whole_text: bool) -> tuple[int, str, int] | None:
    left, sign, right = comparison.split(" ")
    numbers = [_number(case, term, whole_text) for term in (left, right)]
    return None if numbers[0] is None or numbers[1] is None else (numbers[0], sign, numbers[1])


def _number(case: Case, side: str, whole_text: bool) -> int | None:
    """Of one term, or of several that are joined."""
    first, *rest = _JOIN.split(side)
    total = _term_number(case, first, whole_text)
    for sign, term in zip(rest[::2], rest[1::2], strict=True):
        number = _term_number(case, term, whole_text)
        total = None if total is None or number is None else _JOINS[sign](total, number)
    return total


def are_unlike(case: Case, one: str, other: str) -> bool:
    texts = term_value(case, one), term_value(case, other)
    return None not in texts and UNKNOWN not in texts and texts[0] != texts[1]


def _of_several(case: Case, term: str) -> list[int]:
    """The numbers of an option or a variable that has several, or of a list at a key of an option that is JSON."""
    flag, _, path = term.partition(".")
    place = case.option(flag) if flag.startswith("-") else None
    value = place.value if place is not None and not path else _at_key(case, flag, path)
    if flag.startswith("$"):
        value = (term_value(case, flag) or UNKNOWN).replace(",", " ")
    words = value if isinstance(value, list | tuple) else str(value).split()
    numbers = [whole(str(word)) for word in words]
    known = [number for number in numbers if number is not None]
    return known if len(known) == len(numbers) else []


def _term_number(case: Case, term: str, whole_text: bool) -> int | None:
    """What is not given is what the engine takes by itself only where nothing more can be given."""
    if several := _SEVERAL.fullmatch(term):
        numbers = _of_several(case, several[2])
        return _OF_SEVERAL[several[1]](numbers) if numbers else None
    name, _, default = term.partition("|")
    if name in _SIZES and not whole_text and case.option(case.engine.command_line.options.get(name, "")) is None:
        return None
    value = term_value(case, name)
    if value is None:
        value = default if whole_text else UNKNOWN
    number = vllm_tokens(value)
    return None if number is None or number < 0 else number


def term_value(case: Case, term: str) -> str | None:
    """As text; None where it is not there."""
    if term == _CONTEXT:
        return _context(case)
    if term == _LAYERS:
        return str(case.checkpoint.architecture.layers) if case.checkpoint is not None else UNKNOWN
    if term == _MACHINE:
        known = case.cluster
        return UNKNOWN if known is None or known.nodes > 1 else str(max(known.per_node, known.device.per_node))
    if term in _SIZES:
        return str(getattr(case.first.layout, term)) if case.laid_out else UNKNOWN
    if whole(term) is not None:
        return term
    if term.startswith("$"):
        word = case.commands[0].env.get(term[1:])
        text = case.variable(term[1:])
        return None if word is None else UNKNOWN if unresolved(text) else text
    flag, _, path = term.partition(".")
    place = place_of(case, flag)
    if place is None:
        return None
    if place.problem == "unexpected-value":
        return UNKNOWN  # `--enable-expert-parallel=${switch}`: whether it is meant to be on is not known
    return _inner(case, flag, path) if path else written_with_dots(case, place) or _text(place.value)


def place_of(case: Case, flag: str) -> Occurrence | None:
    """Where the option stands, or one that it was renamed from or to."""
    names = (flag, *same_options(case.engine.program).get(flag, ()))
    return next((place for name in names if (place := case.option(name)) is not None), None)


def _context(case: Case) -> str:
    """The tokens of a sequence: what is asked for, or else what config.json of a model that is known has."""
    if CONTEXT in case.unknown:
        return UNKNOWN
    asked = case.first.settings.max_model_len
    if asked is None and case.checkpoint is not None:
        asked = case.checkpoint.architecture.max_context
    return UNKNOWN if asked is None else str(asked)


def _inner(case: Case, flag: str, path: str) -> str | None:
    value = _at_key(case, flag, path)
    return value if value is None or value == UNKNOWN else _text(value)


def _at_key(case: Case, flag: str, path: str) -> object:
    """What stands at a key of an option that is JSON, and may be written with dots."""
    value: object = case.first.parsed.values.get(flag.removeprefix("--").replace("-", "_"))
    if isinstance(value, str):
        value = as_json(value.strip("'"))
    if not isinstance(value, Mapping):
        return UNKNOWN
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def _text(value: object) -> str:
    if isinstance(value, tuple) and len(value) == 1:
        (value,) = value
    if isinstance(value, bool):
        return str(value).casefold()
    if isinstance(value, int | float | str):
        text = str(value).strip("'\"")
        return UNKNOWN if unresolved(text) else text
    return "given" if value else UNKNOWN
