"""Generations of AMD devices that a text names without an engine's own word for them."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.spoken_capabilities import speaks_of_amd, spoken_generation_of_amd
from moonpad.explain.script import read_script


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Two AMD Radeon AI PRO R9700 cards", "gfx1201"),
        ("An RX 9070 XT", "gfx1201"),
        ("An RX 9060 XT", "gfx1200"),
        ("GPU: Radeon 8060S", "gfx1151"),
        ("On Strix Halo", "gfx1151"),
        ("An RX 7900 XTX", "gfx1100"),
        ("MI300X", "gfx942"),
        ("R9700 beside an MI300X", ""),
        ("R9700 fails, an H100 does not", ""),
        ("ticket R97001", ""),
    ],
)
def test_generation(words: str, expected: str) -> None:
    assert spoken_generation_of_amd(read_script(f"{words}\n\n```bash\nvllm serve a/b\n```\n")) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Eight MI100", True),
        ("MI250 and MI300X", True),
        ("ROCm 7.2", True),
        ("ROCM used to build PyTorch: 6.4.43484", True),
        ("ROCM used to build PyTorch: N/A", False),
        ("ROCm 7.2 on one machine, H100 on the other", False),
        ("Supported: ROCm 6.4, CUDA 12.8", False),
        ("", False),
    ],
)
def test_maker(words: str, expected: bool) -> None:
    assert speaks_of_amd(read_script(f"{words}\n\n```bash\nvllm serve a/b\n```\n")) is expected
