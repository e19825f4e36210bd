"""Where an engine gets the libraries of kernels from that guides call optional."""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.source_builds import Repository
from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "kernel_libraries.toml"


class KernelBuild(Struct, frozen=True, kw_only=True):
    """How a library is made by a script of the engine's makers."""

    tools: Repository
    """Holds the script."""
    script: Text
    checkout: Text
    """The folder below the script's workspace into which it clones the library."""
    cuda: tuple[int, ...]
    """The major versions of CUDA that the script is for."""
    torch: Text
    torch_cuda: int
    """What the engine's own lock has: the library is compiled against it."""
    nvshmem: Text
    architectures: Text
    """As TORCH_CUDA_ARCH_LIST."""
    distribution: Text


class KernelLibrary(Struct, frozen=True, kw_only=True):
    """Exactly one of `package`, `within` and `build` says where it comes from."""

    name: Text
    engine: Text
    engine_version: Text
    repository: str = ""
    commit: str = ""
    package: str = ""
    within: str = ""
    build: KernelBuild | None = None
    note: str = ""
    provenance: Provenance


@cache
def kernel_libraries() -> tuple[KernelLibrary, ...]:
    """Reads the data once."""
    return tuple(row.build(KernelLibrary) for _, row in rows(FILE, "libraries"))


def kernel_library(engine: str, name: str) -> KernelLibrary | None:
    return next((each for each in kernel_libraries() if (each.engine, each.name) == (engine, name)), None)
