"""Units. GiB is 2**30 bytes, GB is 10**9; a name that ends in `_gib` is never the other."""

from __future__ import annotations

from typing import Final

KIB: Final = 1 << 10
MIB: Final = 1 << 20
GIB: Final = 1 << 30
GB: Final = 10**9


def gib(size_bytes: float) -> str:
    """`1.46 GiB`, or MiB below a hundredth of that, for people."""
    if abs(size_bytes) < GIB / 100:
        return f"{size_bytes / MIB:.1f} MiB"
    return f"{size_bytes / GIB:.2f} GiB"


def duration(seconds: float) -> str:
    """`0.34 s`, `12.3 s`, `2 min 05 s`, `3 h 04 min`."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60:02d} min"
