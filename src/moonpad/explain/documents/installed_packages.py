"""Which packages a log shows as installed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_LINE: Final = re.compile(
    r"\s*(?:Successfully installed|Requirement already satisfied:|Using cached|Installing collected)"
)
_INSTALL: Final = re.compile(r"install (?P<package>[a-z][\w.-]*\w)(?=[,;]|$| or later)")
"""A remedy that is one package."""
_LONGEST: Final = 20_000
"""One line names all packages of an environment."""


def is_installed(remedy: str, lines: Sequence[str]) -> bool:
    """Whether what a remedy asks for first is there: `install flash-attn`, also where it is written
    `flash_attn-2.7.4.post1`, as the installer prints it."""
    needed = _INSTALL.match(remedy)
    if needed is None:
        return False
    name = "[-_.]".join(re.escape(part) for part in re.split(r"[-_.]", needed["package"]))
    pattern = re.compile(rf"(?<![\w.-]){name}(?![A-Za-z_]|-[A-Za-z])", re.IGNORECASE)
    return any(pattern.search(line[:_LONGEST]) for line in lines if _LINE.match(line))
