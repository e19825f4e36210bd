"""Devices that variables of the environment leave to a process: `CUDA_VISIBLE_DEVICES="0,1"`."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.surrounding_names import CHOOSE_DEVICES
from moonpad.explain.commands import Command

_DEVICE: Final = re.compile(r"\d{1,3}|GPU-[0-9a-f-]{4,40}", re.IGNORECASE)


def listed_by(command: Command, name: str) -> set[str]:
    """Empty where the variable is not set, or not to devices."""
    word = command.env.get(name)
    if word is None or word.unresolved:
        return set()
    devices = word.text.removeprefix(f"{name}=").strip("'\" ,").replace(" ", "").split(",")
    return {*devices} if all(map(_DEVICE.fullmatch, devices)) else set()


def number_left(command: Command) -> int:
    """The fewest that one of the variables leaves; 0 where none says so."""
    return min((len(listed) for name in CHOOSE_DEVICES if (listed := listed_by(command, name))), default=0)
