"""The reference of exit codes, made from the error tree."""

from __future__ import annotations

import inspect
import re

from moonpad.values import errors
from moonpad.values.errors import MoonpadError

HEAD = """\
# Exit codes

Made from the program's errors at each build. Every verb ends with one of these; a message on stderr says what happened,
with its numbers, and one thing to do.

| code | when |
|---:|---|
| 0 | all is well |
"""
TAIL = """\

`moonpad explain` ends with 3 where a finding is an error, `plan` where nothing fits, and `doctor` where something would
stop a start.
"""
LINE = re.compile(r"[├└]── (?P<name>\w+) +(?P<code>\d+) +(?P<when>[^\n]+)")
"""Of the tree in the docstring of values/errors.py."""


def exit_codes_page() -> str:
    """
    Raises:
        ValueError: the tree that is drawn there is not the tree that is.
    """
    lines = LINE.finditer(inspect.getdoc(errors) or "")
    drawn = {match["name"]: (int(match["code"]), match["when"]) for match in lines}
    real = {error.__name__: error.exit_code for error in _below(MoonpadError)}
    if any(real.get(name, code) != code for name, (code, _) in drawn.items()):
        raise ValueError("the tree in values/errors.py does not have the codes of its classes")
    by_code: dict[int, list[str]] = {}
    for code, when in drawn.values():
        by_code.setdefault(code, []).append(re.sub(r" \(\S+\)$", "", when))
    return HEAD + "".join(f"| {code} | {'; '.join(when)} |\n" for code, when in sorted(by_code.items())) + TAIL


def _below(error: type[MoonpadError]) -> list[type[MoonpadError]]:
    return [each for child in error.__subclasses__() for each in (child, *_below(child))]
