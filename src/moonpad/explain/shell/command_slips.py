"""A subcommand that is nearly one of an engine's: `vllm server`, which its parser refuses, read as what was meant."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from moonpad.engines import ENGINES
from moonpad.explain.programs import program_table
from moonpad.explain.source_text import IGNORED, Problems

NEAR: Final = 0.75
"""Of difflib's ratio: `server`, `service` and `serves` are near `serve`; `chat` is a command of its own."""
_OPTIONS: Final = re.compile(r"(?:[^\n#]|\\\n)*?[ \t]--?[A-Za-z]")
"""What is started has options behind it; a sentence about the server has none."""


def with_commands(text: str, start: int, problems: Problems) -> str:
    """`text`, as long as before, which begins at the offset `start` of the whole text."""
    pattern, known = _commands(tuple(ENGINES))

    def mended(match: re.Match[str]) -> str:
        first, word = match["first"], match["word"]
        near = get_close_matches(word, [each for each in known[first] if len(each) <= len(word)], 1, NEAR)
        if word in known[first] or not near or not _OPTIONS.match(match.string, match.end()):
            return match[0]
        at = start + match.start("word")
        message = f"{first} has no command {word}: its parser refuses it"
        problems.add("no-such-command", at, at + len(word), message, f"write {first} {near[0]}")
        return match[0][: -len(word)] + near[0] + IGNORED * (len(word) - len(near[0]))

    return pattern.sub(mended, text)


@lru_cache(maxsize=4)
def _commands(_: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, frozenset[str]]]:
    """Where a program with subcommands is started, and which it has, by its name."""
    known: dict[str, set[str]] = {}
    for words in program_table().commands:
        if len(words) > 1 and "." not in words[0]:
            known.setdefault(words[0], set()).add(words[1])
    names = "|".join(map(re.escape, known))
    line = rf"^[ \t]*(?:\$ )?(?:[\w./~$-]*/)?(?P<first>{names})[ \t]+(?P<word>[a-z]{{4,10}})(?=[ \t\\])"
    return re.compile(line, re.MULTILINE), {name: frozenset(words) for name, words in known.items()}
