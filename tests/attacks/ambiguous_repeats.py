"""Repeats in patterns whose body can be read in two ways: of n of them a text that fails in the end is tried in 2^n."""

from __future__ import annotations

import random
import re
import re._compiler as compiler  # type: ignore[import-not-found]
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final

_LETTERS: Final = " a-0\n./\t=,:|_x#\"'"
_CLASSES: Final = {"SPACE": r"\s", "DIGIT": r"\d", "WORD": r"\w"}
_LEAST_REPEATS: Final = 16
_SAMPLES: Final = 200
_COMPARED: Final = 24
_LONGEST: Final = 60
_REPEATED: Final = 24
_WITHIN_S: Final = 0.5
_ENDS: Final = ("", "\0", "\n\0", " \0", "!\n")
"""What may be behind the pieces, so that the rest of the pattern fails, if it can."""


_TO_THE_END: Final = (codes.AT, codes.AT_END_STRING)
"""As `fullmatch` asks, which many are used with."""


class _TooLong(Exception):
    pass


def ambiguous(pattern: str, flags: int, draw: random.Random) -> str:
    """A text of which the number of ways doubles with each further piece of it; "" where none was drawn."""
    tree = parser.parse(pattern, flags)
    for repeat, rest in _repeats(tree, []):
        body = repeat[1][2]
        try:
            read = compiler.compile(parser.SubPattern(tree.state, list(body)), tree.state.flags)
            failing = compiler.compile(parser.SubPattern(tree.state, [repeat, *rest, _TO_THE_END]), tree.state.flags)
            drawn = {_drawn(body, draw) for _ in range(_SAMPLES)}
        except (ValueError, RecursionError, re.error):  # a reference to a group outside
            continue
        pieces = sorted((piece for piece in drawn if 0 < len(piece) < _LONGEST and read.fullmatch(piece)), key=len)
        pieces = pieces[:_COMPARED]
        twice = next((a + b for a in pieces for b in pieces if read.fullmatch(a + b)), "")
        if twice and any(_takes_long(failing, twice * _REPEATED + end) for end in _ENDS):
            return twice
    return ""


def _takes_long(failing: re.Pattern[str], text: str) -> bool:
    """Whether the matcher does not come to an end; it looks for signals while it works."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _WITHIN_S)
    try:
        failing.match(text)
    except _TooLong:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return False


def _repeats(tree: Any, behind: list[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """Each repeat of more than one character, with what the pattern has behind it."""
    for number, (code, value) in enumerate(tree):
        rest = [*list(tree)[number + 1 :], *behind]
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            _, most, body = value
            alone = len(body) == 1 and body[0][0] in (codes.IN, codes.LITERAL, codes.NOT_LITERAL, codes.ANY)
            if most >= _LEAST_REPEATS and not alone:
                yield (code, value), rest
            yield from _repeats(body, rest)
        elif code is codes.SUBPATTERN:
            yield from _repeats(value[3], rest)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch, rest)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repeats(value[1], [])


def _drawn(tree: Any, draw: random.Random) -> str:
    """A text that the pattern may take: what it looks for around is not minded. Raises ValueError where it refers to a
    group."""
    made = []
    for code, value in tree:
        if code is codes.LITERAL:
            made.append(chr(value))
        elif code is codes.NOT_LITERAL:
            made.append(draw.choice([letter for letter in _LETTERS if ord(letter) != value]))
        elif code is codes.ANY:
            made.append(draw.choice(_LETTERS))
        elif code is codes.IN:
            made.append(draw.choice(_members(value)))
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, body = value
            count = draw.randint(least, least + 3 if most == codes.MAXREPEAT else min(most, least + 3))
            made.extend(_drawn(body, draw) for _ in range(count))
        elif code is codes.SUBPATTERN:
            made.append(_drawn(value[3], draw))
        elif code is codes.ATOMIC_GROUP:
            made.append(_drawn(value, draw))
        elif code is codes.BRANCH:
            made.append(_drawn(draw.choice(value[1]), draw))
        elif code not in (codes.AT, codes.ASSERT, codes.ASSERT_NOT):
            raise ValueError(code)
    return "".join(made)


def _members(members: Any) -> list[str]:
    negated = members[0][0] is codes.NEGATE
    of_these = [letter for letter in _LETTERS if _has(members, letter) != negated]
    named = ((code, value) for code, value in members if code in (codes.LITERAL, codes.RANGE))
    return of_these or [chr(value if code is codes.LITERAL else value[0]) for code, value in named]


def _has(members: Any, letter: str) -> bool:
    for code, value in members:
        if code is codes.LITERAL and value == ord(letter):
            return True
        if code is codes.RANGE and value[0] <= ord(letter) <= value[1]:
            return True
        if code is codes.CATEGORY:
            name = str(value)
            of_class = re.match(_CLASSES[name.rpartition("_")[2]], letter) is not None
            if of_class != ("NOT_" in name):
                return True
    return False
