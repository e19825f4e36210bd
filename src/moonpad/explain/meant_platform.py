"""What a command says by itself of the platform that it is for, where no devices are named."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from moonpad.engines.surrounding_names import PLATFORM_OPTIONS
from moonpad.engines.text_signs import OF_NPUS
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.device_mentions import mentions, platform_of
from moonpad.values.platform import Platform

_IMAGE: Final = re.compile(r"ascend|[-_/:]cann|[-_]npu\b", re.IGNORECASE)
_QUANTIZATIONS: Final = frozenset({("--quantization", "ascend"), ("--quantization", "modelslim")})
"""Of weights made for Ascend."""


_BACKEND: Final = "_ATTENTION_BACKEND"
"""The end of the variable that names one."""


def is_for_rocm(command: Command, variables: tuple[str, ...]) -> bool:
    """By an option whose value AMD's devices alone have, or variables that begin as those that only ROCm reads."""
    backends = (word.text.rpartition("=")[2] for name, word in command.env.items() if name.endswith(_BACKEND))
    if any(backend.startswith("ROCM_") for backend in backends):
        return True
    told = {pair for pair, platform in PLATFORM_OPTIONS.items() if platform == "rocm"}
    return bool(_given(command) & told) or any(name.startswith(variables) for name in command.env)


def is_for_ascend(command: Command) -> bool:
    """By an option, a variable of its libraries, a file of its driver, or the image."""
    told = {pair for pair, platform in PLATFORM_OPTIONS.items() if platform == "ascend"}
    image = command.container.image if command.container is not None else None
    return (
        bool(_given(command) & (told | _QUANTIZATIONS))
        or any(name.startswith(OF_NPUS) for name in command.env)
        or any("/dev/davinci" in word.text for word in command.prefix)
        or (image is not None and _IMAGE.search(image.text) is not None)
    )


def speaks_of_npus_alone(script: Script) -> bool:
    """Whether all devices that the text names are Ascend's: an engine with a build for them finds them by itself."""
    kinds = {each.kind for each in mentions(script.lines, script.placed_hints) if each.known}
    return bool(kinds) and all(platform_of(kind) is Platform.ASCEND for kind in kinds)


def _given(command: Command) -> set[tuple[str, ...]]:
    """Options with their values."""
    words = [word.text for word in command.argv]
    return {*pairwise(words), *(tuple(word.split("=", 1)) for word in words if word.count("=") == 1)}
