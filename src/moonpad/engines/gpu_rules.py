"""What the kernels that several engines share demand of a layout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.attention_backends import possible
from moonpad.values.checkpoint import Component
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, illegal, suboptimal
from moonpad.values.platform import Platform

MARLIN_TILE: Final = 64
AITER: Final = frozenset({"ROCM_AITER_MLA", "AITER"})


def marlin_finding(configuration: Configuration, consequence: str) -> Iterator[Finding]:
    """Marlin is the INT4 kernel of CUDA, and works in tiles of columns."""
    form = configuration.quantization.format_of(Component.ROUTED_EXPERTS)
    if form.name != "int4" or form.block is None or configuration.platform is not Platform.CUDA:
        return
    width, slices = configuration.architecture.moe_intermediate, configuration.expert_slices
    tile = max(MARLIN_TILE, form.block[1])
    if width % slices or (width // slices) % form.block[1] or not (width // slices) % tile:
        return
    yield suboptimal(
        "tp",
        f"experts cut into {slices} slices of {width // slices} columns: Marlin's INT4 kernel wants multiples of "
        f"{tile}, and {consequence}",
        f"set ep = {configuration.expert_group}, so that experts stay whole",
    )


def aiter_finding(
    configuration: Configuration, backend: str, heads: int, allowed: bool, needs: str
) -> Iterator[Finding]:
    """AITER's MLA kernels are made for certain numbers of heads a rank."""
    tp, rocm = configuration.layout.tp, configuration.platform is Platform.ROCM
    asked = configuration.settings.attention_backend == backend
    if allowed or not (rocm and asked) or configuration.architecture.heads % tp:
        return
    fits = next((name for name in possible(configuration) if name.upper() not in AITER), "")
    yield illegal(
        "attention_backend",
        f"tensor parallel {tp} leaves {heads} heads a rank, and AITER MLA of {configuration.program} takes {needs}",
        f'set attention_backend = "{fits}"' if fits else "set a smaller tp",
    )
