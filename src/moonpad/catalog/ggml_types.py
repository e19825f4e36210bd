"""How many bytes a block of values takes in each format of GGML, which GGUF files and llama.cpp's KV cache use.

Source: https://github.com/ggml-org/llama.cpp, ggml/src/ggml-common.h and gguf-py/gguf/constants.py at b11434.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct


class GgmlType(Struct, frozen=True):
    name: str
    values: int
    """In a block."""
    block_bytes: int

    def bytes_of(self, values: int) -> int:
        """Raises ValueError where they do not fill whole blocks."""
        blocks, rest = divmod(values, self.values)
        if rest:
            raise ValueError(f"{values} values are not whole blocks of {self.values} ({self.name})")
        return blocks * self.block_bytes


TYPES: Final[Mapping[int, GgmlType]] = {
    number: GgmlType(name, values, block_bytes)
    for number, name, values, block_bytes in (
        (0, "f32", 1, 4),
        (1, "f16", 1, 2),
        (2, "q4_0", 32, 18),
        (3, "q4_1", 32, 20),
        (6, "q5_0", 32, 22),
        (7, "q5_1", 32, 24),
        (8, "q8_0", 32, 34),
        (9, "q8_1", 32, 36),
        (10, "q2_k", 256, 84),
        (11, "q3_k", 256, 110),
        (12, "q4_k", 256, 144),
        (13, "q5_k", 256, 176),
        (14, "q6_k", 256, 210),
        (15, "q8_k", 256, 292),
        (16, "iq2_xxs", 256, 66),
        (17, "iq2_xs", 256, 74),
        (18, "iq3_xxs", 256, 98),
        (19, "iq1_s", 256, 50),
        (20, "iq4_nl", 32, 18),
        (21, "iq3_s", 256, 110),
        (22, "iq2_s", 256, 82),
        (23, "iq4_xs", 256, 136),
        (24, "i8", 1, 1),
        (25, "i16", 1, 2),
        (26, "i32", 1, 4),
        (27, "i64", 1, 8),
        (28, "f64", 1, 8),
        (29, "iq1_m", 256, 56),
        (30, "bf16", 1, 2),
        (34, "tq1_0", 256, 54),
        (35, "tq2_0", 256, 66),
        (39, "mxfp4", 32, 17),
    )
}
_BITS: Final = {kind.name: 8 * kind.block_bytes / kind.values for kind in TYPES.values()}


def bits_of(name: str) -> float | None:
    """Of a value in the format, its scales included; None for a name that GGML does not have."""
    return _BITS.get(name.casefold())
