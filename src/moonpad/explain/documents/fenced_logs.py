"""Fences of Markdown that hold what programs print, and nothing to be run or read by one.

A line of them may begin with any words; in a sentence the same words are talk about an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Final

from moonpad.engines import program_words

_FENCE: Final = re.compile(r"[ \t>]{0,12}(?P<marks>`{3,}|~{3,})[ \t]*(?P<kind>[\w+-]{0,20})[ \t]*$")
_KINDS: Final = frozenset(
    {"", "text", "txt", "log", "logs", "console", "output", "plaintext", "plain", "none", "dmesg"}
)
_LONGEST: Final = 2_000
_MOST_LINES: Final = 400
_WRITTEN: Final = re.compile(
    r"[ \t]*(?:[$>#%] ?|[-*] |--[a-z]|[\]\[{}(),;]+[ \t]*$|@|//|\.\.\. ?$"
    rf"|(?:export|docker|podman|nerdctl|{program_words.PROGRAMS}|python3?|pip3?|uvx?|sudo|curl|wget|cd|git|import|from"
    r"|def|class|if|elif|else|for|while|try|except|return|raise|echo|printf|print|set|source|srun|sbatch|mpirun|ray"
    r"|kubectl|helm|numactl|nohup|exec|bash|sh|env|mkdir|apt(?:-get)?|conda|hf|grep|assert|with)\b(?!:)"
    r"|(?:log|logger|logging)\.\w|[A-Za-z_]\w{1,60}=(?!=)"
    r"|[\"']?(?!error\b|fatal\b)[a-z][\w.-]{1,60}[\"']?:(?:[ \t]*$|[ ][\w\"'{\[./-]+,?$)"
    r"|.{0,1990}\\$)"
)
"""What people write: commands, settings, code, lists. A line of a log hardly begins so, and none has to."""


def fenced_logs(lines: Sequence[str], logged: Set[int]) -> set[int]:
    """Numbers from 0 of the lines inside such fences."""
    found: set[int] = set()
    begin, marks, kind = -1, "", ""
    for number, line in enumerate(lines):
        if number in logged:
            continue
        match = _FENCE.match(line[:_LONGEST])
        if match is None:
            continue
        if begin < 0:
            begin, marks, kind = number + 1, match["marks"], match["kind"].casefold()
        elif not match["kind"] and match["marks"].startswith(marks):
            if kind in _KINDS and number - begin <= _MOST_LINES and _is_printed(lines[begin:number], begin, logged):
                found |= {*range(begin, number)}
            begin = -1
    return found


def _is_printed(lines: Sequence[str], first: int, logged: Set[int]) -> bool:
    return not any(
        number not in logged and _WRITTEN.match(line[:_LONGEST]) for number, line in enumerate(lines, start=first)
    )
