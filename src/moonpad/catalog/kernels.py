"""Times of single kernels at the shapes that one rank of Kimi-K2 has, measured on a device (`kernels.toml`).

`benchmarks/gpu/kernels.py` measures them, and `benchmarks/gpu/to_catalogue.py` writes the file. They say what a part of
a step costs alone; the constants of a step (step_constants.py) are fitted to whole steps that others published.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Struct

from moonpad.catalog.toml_rows import Amount, Provenance, Text, rows

FILE: Final = "kernels.toml"
Positive = Annotated[float, msgspec.Meta(gt=0)]
Part = Literal["experts", "decode attention", "prompt attention", "dense", "copy", "read", "product"]


class KernelSeries(Struct, frozen=True, kw_only=True):
    """One kernel on one device by size: (size, length, seconds). `size` counts tokens, or sequences that decode;
    `length` is the context of each of these, and 0 elsewhere.

    `name` tells dense matrices apart. `width` is that of an expert, `heads` those of the rank; 0 where there are none.
    """

    part: Part
    device: Text
    engine: Text
    engine_version: Text
    torch: Text
    kernel: Text
    format: Text
    name: str = ""
    width: int = 0
    heads: int = 0
    points: tuple[tuple[Positive, Amount, Positive], ...]
    provenance: Provenance

    def seconds(self, size: float, length: float = 0) -> float | None:
        """Of a point that was measured; None of any other."""
        return next((took for tokens, of, took in self.points if (tokens, of) == (size, length)), None)


@cache
def kernels() -> dict[str, KernelSeries]:
    """By key, in the order of the file. Reads the data once."""
    return {key: row.build(KernelSeries) for key, row in rows(FILE, "kernels")}
