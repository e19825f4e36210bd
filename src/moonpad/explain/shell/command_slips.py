"""A subcommand that is nearly one of an engine's: `vllm server`, which its parser refuses, and a shell that is given a
program in the place of a script: `bash python3`; both read as what was meant."""

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
MOST_COMPARED: Final = 100
"""Words in one text: each takes some 50 µs."""
_OPTIONS: Final = re.compile(r"(?:[^\n#]|\\\n)*?[ \t]--?[A-Za-z]")
"""What is started has options behind it; a sentence about the server has none."""
_BEFORE_PROGRAM: Final = re.compile(
    r"(?P<before>^[ \t]*(?:[A-Z_][A-Z0-9_]*=\S*[ \t]+)*)(?P<shell>(?:ba)?sh)(?P<between>[ \t]+)"
    r"(?P<program>python3?)(?=[ \t]+-m[ \t])",
    re.MULTILINE,
)


def with_commands(text: str, start: int, problems: Problems) -> str:
    """`text`, as long as before, which begins at the offset `start` of the whole text."""
    pattern, known = _commands(tuple(ENGINES))

    compared: dict[tuple[str, str], str] = {}

    def mended(match: re.Match[str]) -> str:
        first, word = match["first"], match["word"]
        if word in known[first]:
            return match[0]
        if (first, word) not in compared and len(compared) < MOST_COMPARED:
            shorter = [each for each in known[first] if len(each) <= len(word)]
            compared[first, word] = next(iter(get_close_matches(word, shorter, 1, NEAR)), "")
        near = compared.get((first, word), "")
        if not near or not _OPTIONS.match(match.string, match.end()):
            return match[0]
        at = start + match.start("word")
        message = f"{first} has no command {word}: its parser refuses it"
        problems.add("no-such-command", at, at + len(word), message, f"write {first} {near}")
        return match[0][: -len(word)] + near + IGNORED * (len(word) - len(near))

    def without_shell(match: re.Match[str]) -> str:
        at = start + match.start("shell")
        message = (
            f"{match['shell']} reads {match['program']} as a script, and it is a program: cannot execute binary file"
        )
        problems.add("no-such-command", at, at + len(match["shell"]), message, f"leave {match['shell']} out")
        return f"{match['before']}{IGNORED * len(match['shell'])}{match['between']}{match['program']}"

    return pattern.sub(mended, _BEFORE_PROGRAM.sub(without_shell, text))


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
