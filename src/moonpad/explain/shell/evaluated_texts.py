"""Commands that a script keeps in double quotes and hands to `eval`: two backslashes at the end of a line are one in
the text, which is meant to join the lines."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.source_text import Problems

_TEXT: Final = re.compile(
    r"(?:^|[;)&|])[ \t]*(?:(?:local|export|readonly)[ \t]+)?(?P<name>[A-Za-z_]\w{0,60})\+?="
    r"\"(?:[^\"\\]|\\.|\\\n){1,8000}\"",
    re.MULTILINE,
)
_DOUBLED: Final = re.compile(r"\\\\(?=\n)")
_RUN: Final = r"(?:\beval|\b(?:ba)?sh[ \t]+-[a-z]*c)[ \t]+"


def with_joined_lines(text: str, start: int, problems: Problems | None = None) -> str:
    """`text` begins at the offset `start` of the whole text; its length stays. Without quotes behind `eval` the shell
    takes the text apart at its blanks, and each backslash makes the blank behind it part of the next option.
    """
    if "eval" not in text and "sh -" not in text:
        return text
    told: set[str] = set()

    def joined(match: re.Match[str]) -> str:
        name = match["name"]
        doubled = _DOUBLED.search(match[0])
        runs = re.search(rf"{_RUN}(?P<quote>\"?)\$\{{?{name}\b", text) if doubled is not None else None
        if doubled is None or runs is None:
            return match[0]
        if not runs["quote"] and problems is not None and name not in told:
            told.add(name)
            at = start + match.start() + doubled.start()
            way = runs[0].split()[0]
            message = (
                f"{way} ${name} stands without quotes: the shell splits the text at its blanks, and this backslash"
                " makes the blank behind it part of the next word"
            )
            problems.add("doubled-backslash", at, at + 2, message, f'write {way} "${name}"')
        return _DOUBLED.sub(r" \\", match[0])

    return _TEXT.sub(joined, text)
