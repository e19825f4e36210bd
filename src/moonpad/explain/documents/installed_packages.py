"""Which packages a log shows as installed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_LINE: Final = re.compile(
    r"\s*(?:Successfully installed|Requirement already satisfied:|Using cached|Installing collected)"
)
_LONGEST: Final = 20_000
"""One line names all packages of an environment."""


def is_installed(package: str, lines: Sequence[str]) -> bool:
    """`flash-attn`, also where it is written `flash_attn-2.7.4.post1`, as the installer prints it."""
    name = "[-_.]".join(re.escape(part) for part in re.split(r"[-_.]", package))
    pattern = re.compile(rf"(?<![\w.-]){name}(?![A-Za-z_]|-[A-Za-z])", re.IGNORECASE)
    return any(pattern.search(line[:_LONGEST]) for line in lines if _LINE.match(line))
