"""Whether a text installs, imports or registers what brings a name to an engine: a plugin of its author."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_BRINGS: Final = r"(?:\binstall\b|\bimport\b|\bfrom\b(?=.*\bimport\b)|\bregister\w*\(|\bVLLM_PLUGINS\s*[=:])"
_SHORTEST: Final = 3
_LONGEST: Final = 1000


def bringing_line(name: str, lines: Sequence[str]) -> int:
    """The number of the first line that does, as `pip install -e /opt/vllm_k3_w1` for `k3_w1`; 0 where none does."""
    if len(name) < _SHORTEST:
        return 0
    written = "[-_]".join(re.escape(part) for part in re.split(r"[-_]", name))
    pattern = re.compile(rf"{_BRINGS}.{{0,300}}?(?<![A-Za-z0-9]){written}(?![A-Za-z0-9])", re.IGNORECASE)
    for number, line in enumerate(lines, 1):
        if pattern.search(line[:_LONGEST]):
            return number
    return 0
