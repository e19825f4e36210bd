"""Names of devices that are one letter and one number: steps of a plan and layers of a design are called so too."""

from __future__ import annotations

import re
from typing import Final

_BRIEF: Final = re.compile(r"[LT]4", re.IGNORECASE)
_OF_DEVICES: Final = re.compile(
    r"NVIDIA|Tesla|\bGPUs?\b|accelerator|\bdevices?\b|\bcards?\b|\bVRAM\b|[0-9] ?Gi?B\b|\bAda\b|\bTuring\b"
    r"|instance|\bVMs?\b|\bnodes?\b|\bservers?\b|\bmachines?\b|\bg[46]\b|Colab|Kaggle|Cloud Run|[显卡机]"
    r"|\b[ALTVHB][0-9]{2,3}|\b(?:on|with|using|for)(?: an?| the| our| my| one)? [LT]4\b",
    re.IGNORECASE,
)
"""What a line has that speaks of devices."""


def is_label(line: str, match: re.Match[str]) -> bool:
    """Whether such a name stands in a line without any sign of a device: `the baseline minus L4 (DeepEP)`."""
    return _BRIEF.fullmatch(match["device"].strip()) is not None and _OF_DEVICES.search(line) is None
