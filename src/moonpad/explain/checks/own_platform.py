"""Whose devices a command is for where their kind is not known: by its image, by what its container is given, and by
the tools that its script asks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from moonpad.catalog.hardware import find_hardware, hardware
from moonpad.catalog.image_devices import image_devices
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import is_generation_of_amd
from moonpad.explain.documents.spoken_capabilities import sm_of, spoken_capabilities, spoken_platforms
from moonpad.values.platform import Platform

_LONGEST: Final = 2000
_OF_IMAGES: Final = {"nvidia": Platform.CUDA, "amd": Platform.ROCM, "ascend": Platform.ASCEND}
"""The row of images → the platform that they are built for."""
_TAG: Final = re.compile(r":[^/\s]*[-_.](?:cu1[1-9]\d?|cuda)(?![a-z0-9])", re.IGNORECASE)
_GIVEN: Final = re.compile(r"nvidia\.com/gpu\b|gke-accelerator\W+nvidia-|--gpus[ =]|nvidia-smi\b|\bnvidia_gpus?\b")
_OTHERS: Final = re.compile(
    r"\b(?:rocm|amd-smi|rocm-smi|npu-smi|hip)\b|amd\.com/gpu|huawei\.com/|\b(?:AMD|Ascend|Instinct)\b"
    r"|\bMI[23]\d\d[AXP]?\b|\bgfx9\d"
)
_OF_ROCM: Final = re.compile(r"rocm|mi3\d|mi\[?3|gfx|aiter", re.IGNORECASE)


def platform_told(case: Case) -> str:
    """Of the devices where they are known, else by what stands around the command; "" where nothing says it."""
    if case.platform:
        return case.platform
    command = case.commands[0]
    image = command.container.image if command.container is not None else None
    if image is not None and not image.unresolved and (built := _built_for(image.text[:_LONGEST])):
        return built
    if any(word.text == "--nv" for wrapper in command.wrappers for word in wrapper.words):
        return str(Platform.CUDA)
    case.script.budget.once("own devices", len(case.script.lines), "the text around its engine commands")
    return str(Platform.CUDA) if _gives_nvidia(tuple(case.script.lines_about(command.line))) else ""


def is_elsewhere(devices: Sequence[str], case: Case) -> bool:
    """Whether rows about these devices, and no others, are not for those of the command."""
    if devices and not case.platform and Platform.ASCEND not in case.engine.platforms:
        named = spoken_capabilities(case.script)
        if named and named.isdisjoint(devices) and None not in map(sm_of, devices):
            return True
        spoken = spoken_platforms(case.script)
        if spoken and all(_platform_of(each) not in ("", *spoken) for each in devices):
            return True
    platform = platform_told(case) if devices else ""
    return bool(platform) and all(_platform_of(each) not in ("", platform) for each in devices)


def names_rocm(texts: Iterable[str]) -> bool:
    """Whether patterns of images, texts or variables ask for what only AMD's devices have."""
    return any(_OF_ROCM.search(text) for text in texts)


def _built_for(image: str) -> str:
    if _TAG.search(image):
        return str(Platform.CUDA)
    rows = image_devices()
    fitting = (platform for name, platform in _OF_IMAGES.items() if re.search(rows[name].image, image, re.IGNORECASE))
    return str(next(fitting, ""))


@lru_cache(maxsize=4)
def _gives_nvidia(lines: tuple[str, ...]) -> bool:
    texts = [line[:_LONGEST] for line in lines if not line.lstrip().startswith("#")]
    return any(map(_GIVEN.search, texts)) and not any(map(_OTHERS.search, texts))


@cache
def _platform_of(device: str) -> str:
    """Of a platform, a capability, a generation or a label as rows write them; "" where it is another name."""
    name = device.removeprefix("<")
    if name in (Platform.CUDA, Platform.ROCM, Platform.ASCEND):
        return name
    if sm_of(name) is not None:
        return str(Platform.CUDA)
    if is_generation_of_amd(name):
        return str(Platform.ROCM)
    row = find_hardware(name)
    if row is not None:
        return str(row.device.platform) if row.device is not None else ""
    devices = (each.device for each in hardware().values() if each.device is not None)
    return str(next((device.platform for device in devices if device.capability == name), ""))
