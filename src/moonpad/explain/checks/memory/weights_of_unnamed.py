"""Weights of models that are not planned, where no devices are named: too much for kinds that many people have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import is_of_amd
from moonpad.explain.checks.memory.room_of_others import OF_LARGEST, room_of
from moonpad.explain.documents.logged_caches import tells_of_answers, tells_of_cache
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

_COMMON: Final = ("h200-sxm", "b200-sxm")
"""Kinds that are met most in machines for such models, by their keys in data/hardware.toml; the smallest first."""
_OF_AMD: Final = ("mi300x", "mi355x")
"""The same where the text is about AMD's."""


def weights_of_unnamed(case: Case) -> Iterator[Remark]:
    """A warning where none of the common kinds holds them, else a note: larger devices do, and which are meant is not
    said."""
    if case.cluster is not None or case.platform:
        return
    room = room_of(case)
    if room is None or room.kind != OF_LARGEST or not room.fits() or tells_of_cache(case.script.lines):
        return
    share = room.held / room.ranks
    common = _OF_AMD if is_of_amd(case) else _COMMON
    devices = [row.device for key in common if (row := hardware()[key]).device is not None]
    small = [device for device in devices if device is not None and share > device.usable_bytes * room.fraction]
    if not small or tells_of_answers(case.script.lines):
        return
    title = room.known.title if room.known is not None else shortened(case.first.model)
    kinds = " or ".join(f"{device.product} ({device.usable_bytes / GIB:,.0f} GiB)" for device in small)
    whose = "the one device gets" if room.ranks == 1 else f"each of {room.ranks} devices gets"
    message = (
        f"{whose} at least {share / GIB:,.0f} GiB of the weights of {title}, and {room.fraction:g} of {kinds} is less"
    )
    needed = 2 ** math.ceil(math.log2(room.held / (small[0].usable_bytes * min(room.fraction, 0.9))))
    remedy = f"take {needed} devices, smaller weights, or name larger devices with --on"
    at = room.place.index if room.place else None
    severity = Severity.WARNING if len(small) == len(common) else Severity.NOTE
    yield make_remark(severity, Code.DOES_NOT_FIT, room.flag, message, remedy, at=at)
