"""The inside of `$((…))`: whole numbers and operators as bash has them, and variables that are known numbers."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Final

_TOKEN: Final = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]{1,15}|\d{1,18})(?![\w#])|\$?\{?([A-Za-z_]\w*)(?::?-(?=\d+\})(\d{1,18}))?\}?"
    r"|(\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%()<>&^|!~?:]))\s*",
    re.ASCII,
)
_ASSIGNS: Final = re.compile(r"(?:\+\+|--)\s*[A-Za-z_]|[A-Za-z_]\w*\s*(?:\+\+|--)|(?<![<>=!])=(?!=)|<<=|>>=", re.ASCII)
"""`i++`, `i += 1`: its value is that of the variable, which this changes."""
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17}|0[xX][0-9a-fA-F]{1,15})", re.ASCII)
"""One with a 0 in front is octal for a shell."""
_LONGEST: Final = 200
_DEEPEST: Final = 50
_LARGEST: Final = 2**63
_BITS: Final = 64

_Term = Callable[[], int]


def evaluate(text: str, lookup: Callable[[str], str | None]) -> int | None:
    """What bash makes of it; None where that is not known here: variables that are not numbers, and what changes them.

    As in bash, / rounds towards zero.
    """
    nested = text.count("(") + text.count("?") > _DEEPEST
    if len(text) > _LONGEST or nested or _ASSIGNS.search(text) or _TOKEN.sub("", text):
        return None
    tokens: list[str] = []
    for match in _TOKEN.finditer(text):
        number, name, default, sign = match.groups()
        if name is not None:
            number = lookup(name) or default or "?"
        if number is not None and not _NUMBER.fullmatch(number):
            number = ""
        tokens.append(sign or f"={number}")
    try:
        return _SumReader(tokens).whole()()
    except (ValueError, ZeroDivisionError):
        return None


class _SumReader:
    """Reads tokens by the precedence of their operators. A term is computed where it is needed alone: the other side
    of `?:` may divide by zero."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]

    def whole(self) -> _Term:
        term = self._choice()
        if self.tokens:
            raise ValueError("more than one term")
        return term

    def _next(self) -> str:
        return self.tokens[-1] if self.tokens else ""

    def _takes(self, sign: str) -> bool:
        if self._next() != sign:
            return False
        self.tokens.pop()
        return True

    def _choice(self) -> _Term:
        condition = self._binary(0)
        if not self._takes("?"):
            return condition
        first = self._choice()
        if not self._takes(":"):
            raise ValueError("a choice without its second side")
        second = self._choice()
        return lambda: first() if condition() else second()

    def _binary(self, least: int) -> _Term:
        """With the operators that bind at least as closely as those of the level `least`."""
        term = self._power()
        while (level := _LEVELS.get(self._next(), -1)) >= least:
            sign = self.tokens.pop()
            term = _joined(sign, term, self._binary(level + 1))
        return term

    def _power(self) -> _Term:
        base = self._unary()
        if not self._takes("**"):
            return base
        exponent = self._power()
        return lambda: _within(_power(base(), exponent()))

    def _unary(self) -> _Term:
        first = self.tokens.pop() if self.tokens else ""
        if first == "(":
            term = self._choice()
            if not self._takes(")"):
                raise ValueError("an open bracket")
            return term
        if first in _SIGNS:
            sign, inner = _SIGNS[first], self._unary()
            return lambda: sign(inner())
        if not first.startswith("="):
            raise ValueError("a sign in the place of a number")
        return lambda: _within(int(first[1:], 16 if "x" in first.casefold() else 10))


def _joined(sign: str, left: _Term, right: _Term) -> _Term:
    if sign == "&&":
        return lambda: int(left() != 0 and right() != 0)
    if sign == "||":
        return lambda: int(left() != 0 or right() != 0)
    combine = _OPERATORS[sign]
    return lambda: _within(combine(left(), right()))


def _within(value: int) -> int:
    """A shell counts on from the other end past 64 bits, which nobody means."""
    if abs(value) >= _LARGEST:
        raise ValueError("too large")
    return value


def _power(base: int, exponent: int) -> int:
    if not 0 <= exponent < _BITS:
        raise ValueError("not a power of a whole number")
    value: int = base**exponent
    return value


def _bits(by: int) -> int:
    if not 0 <= by < _BITS:
        raise ValueError("not a number of bits")
    return by


def _quotient(value: int, other: int) -> int:
    """Towards zero, as in C."""
    quotient = abs(value) // abs(other)
    return quotient if (value < 0) == (other < 0) else -quotient


_SIGNS: Final[dict[str, Callable[[int], int]]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": lambda value: int(value == 0),
}
_LOOSEST_FIRST: Final = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_LEVELS: Final = {sign: level for level, signs in enumerate(_LOOSEST_FIRST) for sign in signs}
_OPERATORS: Final[dict[str, Callable[[int, int], int]]] = {
    "|": operator.or_,
    "^": operator.xor,
    "&": operator.and_,
    "==": lambda value, other: int(value == other),
    "!=": lambda value, other: int(value != other),
    "<": lambda value, other: int(value < other),
    ">": lambda value, other: int(value > other),
    "<=": lambda value, other: int(value <= other),
    ">=": lambda value, other: int(value >= other),
    "<<": lambda value, by: value << _bits(by),
    ">>": lambda value, by: value >> _bits(by),
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": lambda value, other: value - _quotient(value, other) * other,
}
