"""What the pages ask to type: fenced blocks of commands, with what is said of each, and single command lines.

A fenced block in `sh` holds commands, one in `console` commands behind `$ ` and lines that they print. A comment before
it says what a reader need not see: `<!-- not run: needs 8 GPUs -->`, or `<!-- exits 3 -->` where that is the point.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"^(?:<!-- (?P<label>[^\n]*?) -->\n)?```(?P<kind>sh|console|bash|shell)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?m)^    (?:\$ )?(?:\w+=\S+ )*(moonpad (?:.*\\\n)*.*)$")
OURS = re.compile(r"(?:^|[|;&]\s*|\s&&\s*)(?:\w+=\S+ )*(moonpad [^|;&>]*)")


@dataclass(frozen=True, slots=True)
class Block:
    """`commands`: lines of a shell, continuations joined. `printed`: lines that the one before them prints."""

    page: str
    commands: tuple[str, ...]
    printed: tuple[tuple[str, ...], ...]
    why_not_run: str
    exit_code: int


def blocks_of(page: Path) -> list[Block]:
    return [_block(page.name, match) for match in FENCE.finditer(page.read_text())]


def _block(page: str, match: re.Match[str]) -> Block:
    commands: list[str] = []
    printed: list[list[str]] = []
    text = match["text"]
    if match["kind"] == "console":  # what is printed may end in a backslash too
        text = re.sub(r"(?m)^(\$ (?:.*\\\n)+)", lambda command: command[1].replace("\\\n", " "), text)
    else:
        text = text.replace("\\\n", " ")
    for line in text.splitlines():
        if match["kind"] == "console" and not line.startswith("$ "):
            printed[-1].append(line.rstrip())
        elif line.strip():
            commands.append(line.removeprefix("$ "))
            printed.append([])
    label = match["label"] or ""
    why = label.removeprefix("not run:").strip() if label.startswith("not run:") else ""
    exits = re.fullmatch(r"exits (\d+)", label)
    return Block(page, tuple(commands), tuple(map(tuple, printed)), why, int(exits[1]) if exits else 0)


def without_comment(line: str) -> str:
    """A shell's comment begins with a # after a blank, outside of quotes."""
    found = re.match(r"""(?:[^\s'"#]|'[^']*'|"[^"]*"|(?<!\s)\#|\s(?!\#))*""", line)
    return (found[0] if found else line).rstrip()


def our_commands(line: str) -> Iterator[list[str]]:
    """The words behind each `moonpad` of a line of a shell."""
    for match in OURS.finditer(without_comment(line)):
        yield shlex.split(match[1])[1:]


def indented_commands(page: Path) -> Iterator[str]:
    """Lines like `    moonpad up SPEC.toml     # what it does`, as the older pages have them."""
    for match in INDENTED.finditer(re.sub(r"(?ms)^```.*?^```$", "", page.read_text())):
        yield re.split(r" {2}|#", re.sub(r"\\\n +", "", match[1]))[0].strip()
