"""What Pydantic says of keys: which ones a release does not take, and which have a value of another kind. It writes the
key in one line and what is wrong with it in the next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.log_grammar import Failure
from moonpad.explain.results import shortened

_COUNTED: Final = re.compile(
    r"(?<!\w)\d{1,3} validation errors? for (?P<what>\w{0,60}(?:Args|Config|Settings|Options))\b"
)
"""Of settings: requests of clients are checked so too, and their errors end nothing."""
_KEY: Final = re.compile(r"(?:^|\s)(?P<key>[A-Za-z_][\w-]{1,60}(?:\.[\w-]{1,60}){0,6})[ \t]*$")
_WRONG: Final = re.compile(
    r"(?:^|\s)(?:Value error, )?(?P<words>Extra inputs are not permitted|Unexpected keyword argument|Field required"
    r"|Input should [^\[]{2,200}?|(?<=Value error, )[^\[]{2,200}?)"
    r"[ ]\[type=(?P<type>\w{3,40})"
)
_NOT_TAKEN: Final = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_IN_WORDS: Final = "value_error"
"""Its sentence says what is wrong, and needs no key."""
_LINES: Final = 60
"""Below the line that counts the errors."""
_LONGEST: Final = 2_000
_SHOWN: Final = 4


def told_of_keys(number: int, lines: Sequence[str]) -> Failure | None:
    """Of the line with that number, from 1, where it counts the errors: what the lines below it say of each key."""
    counted = _COUNTED.search(lines[number - 1][:_LONGEST])
    told = list(_told(lines[number : number + _LINES])) if counted is not None else []
    if counted is None or not told or (len(told) == 1 and told[0][2] == _IN_WORDS):
        return None
    unknown = [key for key, _, kind in told if kind in _NOT_TAKEN]
    parts = [f"this release takes no {', '.join(unknown[:_SHOWN])}"] if unknown else []
    parts += [f"{key}: {words}" for key, words, kind in told[:_SHOWN] if kind not in _NOT_TAKEN]
    changed = [key for key, _, kind in told if kind not in _NOT_TAKEN]
    remedies = [f"leave {', '.join(unknown[:_SHOWN])} out, or write what this release calls it"] if unknown else []
    remedies += [f"change {', '.join(changed[:_SHOWN])}"] if changed else []
    message = f"{shortened('; '.join(parts), 320)} ({counted['what']})"
    return Failure(message, "; ".join(remedies), counted[0])


def _told(lines: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Each key with what is wrong and Pydantic's name for that."""
    above = ""
    for line in lines:
        text = line[:_LONGEST].rstrip()
        if _COUNTED.search(text):
            return
        if (wrong := _WRONG.search(text)) is not None and (key := _KEY.search(above)) is not None:
            yield key["key"], wrong["words"].strip(), wrong["type"]
        above = text
