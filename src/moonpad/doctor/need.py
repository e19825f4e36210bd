"""What a run needs of one host, as far as its spec says; without a spec nothing in particular."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from moonpad.values.platform import Platform

SHARED: Final = "/dev/shm"  # noqa: S108 - its size is looked at
"""Where the ranks of one host exchange data."""


@dataclass(frozen=True, slots=True)
class Held:
    """What the spec's own deployment holds while it is up. `pids` are those of its processes on this host; empty where
    they are not known, as in a container or on another host."""

    by: str
    """As k2-slice, which is up."""
    pids: frozenset[int] = frozenset()
    ports: frozenset[int] = frozenset()

    def all_of(self, pids: Iterable[int]) -> bool:
        """Whether no other process is among them, as far as it is known."""
        return not self.pids or self.pids.issuperset(pids)


@dataclass(frozen=True, slots=True)
class Need:
    """ "" and None: not known, and nothing is judged by it. `tp`: the ranks here that exchange data in every layer."""

    engine: str = ""
    version: str = ""
    platform: Platform | None = None
    devices: int | None = None
    """On this host."""
    nodes: int = 1
    tp: int = 1
    checkpoint: str = ""
    """Its folder on this host."""
    weights_bytes: int | None = None
    """That this host reads."""
    load_budget_s: float | None = None
    """How long a start may take until it counts as hung."""
    memory_bytes: int = 0
    """RAM at its peak."""
    engine_folder: str = ""
    image: str = ""
    ports: Mapping[int, str] = field(default_factory=dict)
    """Number → what listens there."""
    address: str = ""
    """Of this host, as the spec has it."""
    names: tuple[str, ...] = ()
    """Host names that have to resolve here."""
    held: Held | None = None

    @property
    def engine_files(self) -> tuple[str, ...]:
        """The engine's packages, named by the folders that pip writes, and the Python that it was made with."""
        if not self.engine_folder:
            return ()
        packages = f"{self.engine_folder}/lib/python*/site-packages"
        names = ("vllm", "vllm_ascend", "sglang", "tensorrt_llm", "torch", "torch_npu", "transformers")
        return (
            f"{self.engine_folder}/pyvenv.cfg",
            *(f"{packages}/{name}-[0-9]*.dist-info/WHEEL" for name in names),
        )
