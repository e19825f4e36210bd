"""Whether a command is for AMD's devices, by what stands around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.device_nearness import sections
from moonpad.explain.meant_platform import is_for_rocm

_ROCM: Final = re.compile(r"\b(?:rocm|amd|mi3[0-9]{2}x?)\b", re.IGNORECASE)
ROCM_ENV: Final = ("HIP_", "HSA_", "ROCR_", "AITER_")
"""How the variables begin that only ROCm reads."""
_LONGEST: Final = 2000


def speaks_of_rocm(script: Script, commands: Sequence[Command], line: int, variables: tuple[str, ...]) -> bool:
    """By the headings above, the container's image, and what the commands themselves say."""
    texts = [*_titles(script, line)]
    for command in commands:
        if is_for_rocm(command, variables):
            return True
        image = command.container.image if command.container else None
        texts += (*command.comments, command.heading or "", image.text if image else "")
    return any(_ROCM.search(text[:_LONGEST]) for text in texts)


def _titles(script: Script, line: int) -> Iterator[str]:
    """The headings of a document that a line stands under."""
    chains = sections(script.lines) if script.markdown else ()
    for number in chains[min(line, len(chains)) - 1] if chains else ():
        yield script.lines[number - 1].strip("# ")
