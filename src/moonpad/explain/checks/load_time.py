"""How long the weights of a model take to load, at the least, for all that waits for a server."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from moonpad.catalog.other_models import least_bytes, least_bytes_by_name, other_model
from moonpad.explain.checks.check_case import Case

_DISK_RATE: Final = 3_000_000_000
"""Bytes a second that a fast disk reads."""
_DOWNLOADS: Final = 125_000_000
"""The same of a line of 1 Gbit/s."""
STARTS: Final = 30
"""Seconds that the engine takes at least, beside its weights: compilation and graphs are left out."""
_LONG_READ: Final = 60
"""Seconds: servers of small models may start at once."""
_FROM_ELSEWHERE: Final = ("--load-format", "--model-loader-extra-config")
"""Weights that are not read from a disk, or by many readers at once."""
_BF16: Final = 2.0
"""Bytes of a weight, as nearly all models are published whose name says no format."""
_GB: Final = 1_000_000_000


class Load(Struct, frozen=True):
    held: float
    """Bytes that each machine reads."""

    @property
    def gigabytes(self) -> str:
        return f"{self.held / _GB:,.0f} GB"

    @property
    def read(self) -> float:
        """Seconds."""
        return self.held / _DISK_RATE

    @property
    def downloaded(self) -> float:
        """Seconds, at 1 Gbit/s."""
        return self.held / _DOWNLOADS

    @property
    def needed(self) -> float:
        """Seconds until the server may answer."""
        return self.read + (STARTS if self.read >= _LONG_READ else 0)

    @property
    def words(self) -> str:
        """`to read 595 GB of weights takes 198 s at 3 GB/s, and the engine 30 s at least beside that`."""
        beside = f", and the engine {STARTS} s at least beside that" if self.needed > self.read else ""
        return f"to read {self.gigabytes} of weights takes {self.read:,.0f} s at 3 GB/s{beside}"


def load_of(case: Case) -> Load | None:
    """None where the size of the weights is not known, or they come from elsewhere than a disk."""
    if any(case.option(flag) is not None for flag in _FROM_ELSEWHERE):
        return None
    model = case.first.model
    if case.checkpoint is not None:
        held = case.checkpoint.total_bytes
    elif (known := other_model(model)) is not None:
        held = least_bytes(known, model)
    else:
        held = least_bytes_by_name(model, of_plain=_BF16)
    return Load(held / max(case.commands[0].pods, case.first.node.nodes or 1)) if held else None
