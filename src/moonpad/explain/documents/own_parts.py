"""What a document names in the same part as a command: trials one below the other, each with its image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from moonpad.explain.documents.device_nearness import sections

_Named = TypeVar("_Named")


def of_own_part(line: int, placed: Sequence[tuple[int, _Named]], lines: Sequence[str]) -> tuple[_Named, ...]:
    """Of things with their lines, from 1, those below the innermost heading above the line that has any; a heading is
    a part of what stands below it. Nothing where the text has no headings there."""
    chains = sections(tuple(lines))
    own = chains[min(line, len(chains)) - 1] if chains else ()
    for depth in range(len(own), 0, -1):
        if found := tuple(thing for at, thing in placed if chains[at - 1][:depth] == own[:depth]):
            return found
    return ()
