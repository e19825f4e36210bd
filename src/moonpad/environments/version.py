"""The version in what an engine prints."""

from __future__ import annotations

import re


def version_in(output: str) -> str:
    """The version in the last line that holds one (`0.32.0+cpu`, `vLLM 0.11.0`), "" where none does."""
    for line in reversed(output.splitlines()):
        if match := re.search(r"(?<![\w.])v?(\d+\.\d+[\w.+!-]*)", line):
            return match[1]
    return ""


def matches(version: str, wanted: str) -> bool:
    """`0.32.0+cpu` is 0.32.0: what follows the + names the build."""
    return version.partition("+")[0] == wanted.partition("+")[0]
