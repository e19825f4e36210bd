"""Measured starts: what an engine had left for the KV cache on a device, with known settings."""

from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Row, Standing, rows
from moonpad.values.plan import Layout, Settings
from moonpad.values.units import GIB

FILE: Final = "calibrations.toml"
HALF_DIGIT_GIB: Final = 0.005
"""Engines print GiB with two digits."""


class Calibration(Struct, frozen=True):
    """`kv_bytes` was free for the KV cache on one device, somewhere in [`kv_bytes_low`, `kv_bytes_high`].

    `device` is an id of the hardware catalogue, `settings` are those in force, the engine's defaults included.
    """

    id: str
    engine: str
    engine_version: str
    model: str
    scheme: str
    """`int4`, `fp8` …: the checkpoint's `Quantization.scheme`."""
    device: str
    layout: Layout
    settings: Settings
    kv_bytes: float
    kv_bytes_low: float
    kv_bytes_high: float
    source: str
    checked: str
    standing: Standing
    kv_tokens: int | None = None
    """What the engine's log said that this holds, over all decode-context-parallel ranks; None: it did not say."""
    notes: str = ""


@cache
def calibrations() -> tuple[Calibration, ...]:
    """Those that come with moonpad. Reads the data once."""
    return tuple(_calibration(key, row) for key, row in rows(FILE, "runs"))


def _calibration(key: str, row: Row) -> Calibration:
    kv_gib, _ = row.span("kv_gib") or (0.0, 0.0)
    if kv_gib <= HALF_DIGIT_GIB:
        raise row.error(f"kv_gib is {kv_gib}")
    layout, settings = row.part("layout", Layout), row.part("settings", Settings)
    sizes = dict(zip(("kv_bytes", "kv_bytes_low", "kv_bytes_high"), kv_bytes_of_log(kv_gib), strict=True))
    return row.build(Calibration, id=key, layout=layout, settings=settings, **sizes)


def kv_bytes_of_log(kv_gib: float) -> tuple[float, float, float]:
    """The size of the KV cache, its low and its high end, from an engine's own log, which prints two digits."""
    return kv_gib * GIB, (kv_gib - HALF_DIGIT_GIB) * GIB, (kv_gib + HALF_DIGIT_GIB) * GIB
