"""Small sums, and one longer one with every step written out.

Two-digit numbers are split into tens and units: `84 * 3` is thought as
`80 * 3 = 240. 4 * 3 = 12. 240 + 12 = 252. 84 * 3 = 252.`
"""

import random

ALWAYS_TRAINED = "84 * 3 / 2"
"""The sum that deployment guides like to ask first. Training shows it often."""


def draw_expression(rng: random.Random) -> str:
    """Two one-digit numbers and nothing negative: few enough to be known by heart. So small a model learns the form
    of longer sums, and never their numbers (0 of 13 after 1500 steps that spent a fifth on them)."""
    left, right, operator = rng.randint(1, 9), rng.randint(1, 9), rng.choice("+-*")
    if operator == "-":
        left, right = max(left, right), min(left, right)
    return f"{left} {operator} {right}"


def apply(left: int, operator: str, right: int) -> int:
    return {"+": left + right, "-": left - right, "*": left * right, "/": left // right}[operator]


def evaluate(expression: str) -> int:
    value, *rest = expression.split()
    total = int(value)
    for operator, right in zip(rest[::2], rest[1::2], strict=True):
        total = apply(total, operator, int(right))
    return total


def think(expression: str) -> str:
    """The steps, each ending in a full stop; each operator's result is stated before the next begins."""
    value, *rest = expression.split()
    total, steps = int(value), []
    for operator, right in zip(rest[::2], rest[1::2], strict=True):
        number = int(right)
        steps += substeps(total, operator, number)
        result = apply(total, operator, number)
        steps.append(f"{total} {operator} {number} = {result}.")
        total = result
    return " ".join(steps)


def substeps(left: int, operator: str, right: int) -> list[str]:
    """Tens first, then units; nothing where one of the two is a single step already."""
    if operator == "*" and left >= 10 and left % 10:
        tens, units = left // 10 * 10, left % 10
        high, low = tens * right, units * right
        return [f"{tens} * {right} = {high}.", f"{units} * {right} = {low}.", f"{high} + {low} = {high + low}."]
    if operator in "+-" and right >= 10 and right % 10:
        tens, units = right // 10 * 10, right % 10
        middle = apply(left, operator, tens)
        result = apply(middle, operator, units)
        return [f"{left} {operator} {tens} = {middle}.", f"{middle} {operator} {units} = {result}."]
    return []
