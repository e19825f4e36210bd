"""What a command says by itself of the platform that it is for, where no devices are named."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from moonpad.engines.surrounding_names import PLATFORM_OPTIONS
from moonpad.engines.text_signs import OF_NPUS
from moonpad.explain.commands import Command

_IMAGE: Final = re.compile(r"ascend|[-_/:]cann|[-_]npu\b", re.IGNORECASE)
_QUANTIZATIONS: Final = frozenset({("--quantization", "ascend"), ("--quantization", "modelslim")})
"""Of weights made for Ascend."""


def is_for_ascend(command: Command) -> bool:
    """By an option, a variable of its libraries, a file of its driver, or the image."""
    words = [word.text for word in command.argv]
    given = {*pairwise(words), *(tuple(word.split("=", 1)) for word in words if word.count("=") == 1)}
    told = {pair for pair, platform in PLATFORM_OPTIONS.items() if platform == "ascend"}
    image = command.container.image if command.container is not None else None
    return (
        bool(given & (told | _QUANTIZATIONS))
        or any(name.startswith(OF_NPUS) for name in command.env)
        or any("/dev/davinci" in word.text for word in command.prefix)
        or (image is not None and _IMAGE.search(image.text) is not None)
    )
