"""The names that a quantiser's configuration leaves out: exact ones, globs, and regular expressions after `re:`.

The file is not trusted, so its regular expressions are not run: `(a*)*b` would take for ever. Those that
quantisers write are made of literals, `.*`, digits and alternatives, and are translated into globs, whose matching
takes linear time in Python. Anything else is refused by name.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Iterable
from itertools import product
from typing import Final

from moonpad.values.errors import CheckpointError

MAX_PATTERNS: Final = 20_000
MAX_GLOBS: Final = 1_000
"""Those with a wildcard anywhere but at their end. NVIDIA's lists have 125 names, all with one at the end."""
MAX_LENGTH: Final = 300
MAX_ALTERNATIVES: Final = 64

_PIECE: Final = re.compile(
    r"(?P<any>\.\*)|(?P<digits>(?:\\d|\[0-9\])\+?)|(?P<escaped>\\[.\-_/])|(?P<one>\.)"
    r"|\((?:\?:)?(?P<choice>[\w.\-\\|]+)\)|(?P<plain>[\w\-/]+)"
)
_MAGIC: Final = re.compile(r"[*?\[]")


class Patterns:
    """Whether one of them means a module. Raises CheckpointError for anything but a list of understood patterns."""

    def __init__(self, patterns: object) -> None:
        patterns = [] if patterns is None else patterns
        if not isinstance(patterns, list) or len(patterns) > MAX_PATTERNS:
            raise CheckpointError("has a list of ignored modules that is not a list, or too long")
        exact: set[str] = set()
        starts: set[str] = set()
        globs: set[str] = set()
        for pattern in patterns:
            for glob in _globs(pattern):
                body = glob[:-1] if glob.endswith("*") else glob
                if _MAGIC.search(body):
                    globs.add(glob)
                else:
                    (exact if body is glob else starts).add(body)
        if len(globs) > MAX_GLOBS:
            raise CheckpointError(f"ignores {len(globs)} patterns; at most {MAX_GLOBS} are plausible")
        self._exact, self._starts = frozenset(exact), tuple(sorted(starts))
        self._globs = tuple(re.compile(fnmatch.translate(glob)) for glob in sorted(globs))

    def match(self, names: Iterable[str]) -> bool:
        """True where any of the names is meant; the names are the spellings of one module."""
        return any(
            name in self._exact or name.startswith(self._starts) or any(glob.match(name) for glob in self._globs)
            for name in names
        )


def _globs(pattern: object) -> Iterable[str]:
    if not isinstance(pattern, str) or not 0 < len(pattern) <= MAX_LENGTH:
        raise CheckpointError("has a list of ignored modules that holds something other than a name")
    if pattern.startswith("re:"):
        return _from_expression(pattern.removeprefix("re:"))
    # A module that is left out takes everything inside with it (vLLM and ModelOpt both read it so).
    return (pattern,) if pattern.endswith("*") else (pattern, f"{pattern}.*")


def _from_expression(expression: str) -> tuple[str, ...]:
    """As `re.match` reads it: from the start of the name, and open at its end unless there is a `$`."""
    body = expression.removeprefix("^")
    closed = body.endswith("$")
    body = body.removesuffix("$")
    pieces: list[tuple[str, ...]] = []
    at = 0
    while at < len(body):
        piece = _PIECE.match(body, at)
        if piece is None:
            raise CheckpointError(f"ignores {expression!r}, a regular expression that moonpad does not understand")
        pieces.append(_piece(piece))
        at = piece.end()
    if math.prod(map(len, pieces)) > MAX_ALTERNATIVES:
        raise CheckpointError(f"ignores {expression!r}, a regular expression with too many alternatives")
    return tuple("".join(parts) + ("" if closed else "*") for parts in product(*pieces))


def _piece(match: re.Match[str]) -> tuple[str, ...]:
    if match["any"]:
        return ("*",)
    if match["digits"]:
        return ("[0-9]*",) if match["digits"].endswith("+") else ("[0-9]",)
    if match["one"]:
        return ("?",)
    if match["choice"]:
        return tuple(choice.replace("\\", "") for choice in match["choice"].split("|"))
    return (match[0].removeprefix("\\"),)
