"""What builds a server of Chutes in Python: chutes/chute/template/sglang.py and vllm.py of
https://pypi.org/project/chutes/ 0.6.9."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct


class Builder(Struct, frozen=True):
    """`ranks` are the names of the option that it adds with the number of devices, where the arguments have none."""

    program: str
    ranks: tuple[str, ...]
    always: tuple[str, ...] = ()
    """What it adds besides, where it is not given."""


BUILDERS: Final[Mapping[str, Builder]] = {
    "build_sglang_chute": Builder(
        "sglang", ("--tp", "--tp-size", "--tensor-parallel-size"), ("--enable-cache-report",)
    ),
    "build_vllm_chute": Builder("vllm serve", ("--tensor-parallel-size", "--tp", "-tp")),
}
"""The functions by their names."""
MODEL: Final = "model_name"
ARGUMENTS: Final = "engine_args"
IMAGE: Final = "image"
SELECTOR: Final = "node_selector"
COUNT: Final = "gpu_count"
KINDS: Final = "include"
"""Of the selector: how many devices, and of which kinds."""
