"""The inside of `$((…))` where it is whole numbers, + - * / % and variables; everything else is left unresolved."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Final

_TOKEN: Final = re.compile(r"\s*(?:(\d{1,18})|\$?\{?([A-Za-z_]\w*)\}?|([-+*/%()]))\s*", re.ASCII)
_LONGEST: Final = 200
_LARGEST: Final = 2**63
_NESTING: Final = 50


def _quotient(value: int, other: int) -> int:
    """Towards zero, as in C."""
    quotient = abs(value) // abs(other)
    return quotient if (value < 0) == (other < 0) else -quotient


_OPERATORS: Final[dict[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _quotient,
    ast.Mod: lambda value, other: value - _quotient(value, other) * other,
}


def evaluate(text: str, lookup: Callable[[str], str | None]) -> int | None:
    """None where it is anything else, or a variable is not a known number. As in bash, / rounds towards zero."""
    if len(text) > _LONGEST or text.count("(") > _NESTING or _TOKEN.sub("", text):
        return None
    tokens: list[str] = []
    for match in _TOKEN.finditer(text):
        number, name, sign = match.groups()
        if name is not None:
            number = lookup(name) or "?"
        if number is not None and not re.fullmatch(r"-?(?:0|[1-9][0-9]{0,17})", number, re.ASCII):
            return None  # not a number, or octal for a shell
        tokens.append(sign or number)
    try:
        # The blanks keep `**` and `//` from becoming operators of Python.
        return _value(ast.parse(" ".join(tokens), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return None


def _value(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            return _value(operand) * (-1 if isinstance(sign, ast.USub) else 1)
        case ast.BinOp(left=left, op=symbol, right=right):
            value = _OPERATORS[type(symbol)](_value(left), _value(right))
            if abs(value) < _LARGEST:
                return value
    raise ValueError("not a sum, or too large")
