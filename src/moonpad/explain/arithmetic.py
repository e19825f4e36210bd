"""The inside of `$((…))` where it is whole numbers, + - * / % and variables; everything else is left unresolved."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_TOKEN: Final = re.compile(r"\s*(?:(\d{1,18})|\$?\{?([A-Za-z_]\w*)\}?|([-+*/%()]))", re.ASCII)
_LONGEST: Final = 200
_LARGEST: Final = 2**63
_NESTING: Final = 50


def evaluate(text: str, lookup: Callable[[str], str | None]) -> int | None:
    """None where it is anything else, or a variable is not a known number. As in bash, / rounds towards zero."""
    if len(text) > _LONGEST or text.rstrip() == "":
        return None
    tokens: list[str | int] = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        number, name, operator = match.groups()
        if name is not None:
            number = lookup(name) or ""
            if not re.fullmatch(r"-?[0-9]{1,18}", number, re.ASCII):
                return None
        if number is not None and re.fullmatch(r"-?0[0-9]+", number, re.ASCII):
            return None  # octal for a shell
        tokens.append(operator if number is None else int(number))
        position = match.end()
    sums = _Sums(tokens)
    try:
        value = sums.sum(0)
    except (ValueError, ZeroDivisionError):
        return None
    return value if sums.position == len(tokens) else None


class _Sums:
    def __init__(self, tokens: list[str | int]) -> None:
        self.tokens, self.position = tokens, 0

    def _next(self, *operators: str) -> str | None:
        token = self.tokens[self.position] if self.position < len(self.tokens) else None
        if isinstance(token, str) and token in operators:
            self.position += 1
            return token
        return None

    def sum(self, depth: int) -> int:
        value = self.product(depth)
        while operator := self._next("+", "-"):
            other = self.product(depth)
            value = _bounded(value + other if operator == "+" else value - other)
        return value

    def product(self, depth: int) -> int:
        value = self.factor(depth)
        while operator := self._next("*", "/", "%"):
            other = self.factor(depth)
            value = _bounded(value * other) if operator == "*" else _divided(value, other)[operator == "%"]
        return value

    def factor(self, depth: int) -> int:
        if depth > _NESTING:
            raise ValueError("too deep")
        if sign := self._next("-", "+"):
            value = self.factor(depth + 1)
            return -value if sign == "-" else value
        if self._next("("):
            value = self.sum(depth + 1)
            if not self._next(")"):
                raise ValueError("a bracket is open")
            return value
        token = self.tokens[self.position] if self.position < len(self.tokens) else None
        if not isinstance(token, int):
            raise ValueError("no number")
        self.position += 1
        return token


def _bounded(value: int) -> int:
    if abs(value) >= _LARGEST:
        raise ValueError("too large")
    return value


def _divided(value: int, other: int) -> tuple[int, int]:
    """Quotient and remainder as in C: the quotient towards zero, the remainder with the sign of the first."""
    quotient = abs(value) // abs(other)
    quotient = quotient if (value < 0) == (other < 0) else -quotient
    return quotient, value - quotient * other
