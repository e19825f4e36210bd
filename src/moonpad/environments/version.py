"""How an engine is asked for its version."""

from __future__ import annotations

import re
from pathlib import Path


def version_of_command(program: Path, args: tuple[str, ...] = ("--version",)) -> tuple[str, ...]:
    return (str(program), *args)


def version_in(output: str) -> str:
    """The version in the last line that holds one (`0.32.0+cpu`, `vLLM 0.11.0`), "" where none does."""
    for line in reversed(output.splitlines()):
        if found := re.search(r"(?<![\w.])v?(\d+\.\d+[\w.+!-]*)", line):
            return found[1]
    return ""


def matches(version: str, wanted: str) -> bool:
    """`0.32.0+cpu` is 0.32.0: what follows the + names the build."""
    return version.partition("+")[0] == wanted.partition("+")[0]
