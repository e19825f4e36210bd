"""The largest device of the compute capability that a text gives in numbers: `sm_86`, `(8, 6)`, `gfx942`."""

from __future__ import annotations

from msgspec import Struct

from moonpad.catalog.hardware import hardware
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.spoken_capabilities import written_capability


class Largest(Struct, frozen=True):
    """`label` of the catalogue, and the bytes that an engine sees of it."""

    label: str
    capability: str
    usable_bytes: float


def largest_of_capability(case: Case) -> Largest | None:
    """None where devices are known, or the text gives no capability, several, or one of devices that are not known."""
    capability = "" if case.cluster is not None or case.devices_asked else written_capability(case.script)
    if not capability:
        return None
    known = [(row.label, row.device) for row in hardware().values() if row.device is not None]
    own = [
        Largest(label, capability, device.usable_bytes) for label, device in known if device.capability == capability
    ]
    return max(own, key=lambda each: each.usable_bytes, default=None)
