"""Names of devices that the catalogue does not have, or has under another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OTHERS: Final = (
    *("MI300A", "MI250X", "MI210", "MI100", "V100", "A30", "T4", "P40", "P100"),
    *(
        "RTX 4080 Super",
        "4080 Super",
        "8060S",
        "RTX 4080",
        "RTX 3080",
        "RTX 2080 Ti",
        "2080Ti",
        "RTX PRO 5000",
        "RTX PRO 4500",
        "RTX PRO 4000",
        "BW1000",
        "BW1100",
        "K100 AI",
        "K100",
    ),
    *(
        "MLU370",
        "MLU580",
        "MLU590",
        "BI-V150",
        "910B4",
        "910A",
        "310P",
        "P800",
        "TPU v5e",
        "TPU v6e",
        "gfx1151",
        "Arc Pro B60",
        "Arc Pro B70",
        "RTX 5070",
        "CMP 170HX",
    ),
    "RX 580",
    *("M1 Ultra", "M2 Ultra", "M3 Ultra", "M1 Max", "M2 Max", "M3 Max", "M4 Max"),
)
"""Kinds that people name and the catalogue does not have: a command for one of them is for no other."""
CALLED: Final = {"4080super": "RTX 4080 Super", "8060s": "Radeon 8060S", "2080ti": "RTX 2080 Ti", "k100ai": "K100_AI"}
VARIANTS: Final[Mapping[str, str]] = {
    **{"910B1": "A2", "910B2": "A2", "910B3": "A2", "DGX Spark": "GB10", "Sparks": "GB10"},
    **{name: f"{name.upper().removesuffix('X')}X" for name in ("MI300", "MI325", "MI350", "MI355", "mi300x", "mi355x")},
    **{"H200 NVL": "H200", "H100 HGX": "H100"},
    **{f"Blackwell {name}": "RTX-PRO-6000" for name in ("6000 Pro", "RTX 6000 Pro", "RTX Pro 6000", "Pro 6000")},
    **{"6000 Pro Blackwell": "RTX-PRO-6000", "Pro 6000 Blackwell": "RTX-PRO-6000"},
}
"""Names of devices with as much memory as one of the catalogue."""
SIZES: Final[Mapping[tuple[str, int], str]] = {
    ("H20", 141): "H20-141G",
    ("RTX4090", 48): "RTX4090-48G",
    ("H100", 94): "H100-NVL",
    ("A100", 40): "A100-40G",
    ("GH200", 144): "GH200-144G",
    ("H100", 96): "",
    ("A2", 32): "",
}
"""(Kind, GB beside its name) → the kind that is meant; "": one that the catalogue does not have."""
