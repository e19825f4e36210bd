"""An indexed build, once it is resolved, as a recipe that is installed as every other one."""

from __future__ import annotations

from typing import Final

from moonpad.engines.install_recipe import Recipe, question_of
from moonpad.environments.resolve import Resolution
from moonpad.values.platform import Platform
from moonpad.values.units import GIB

DISK_BYTES: Final = 16_000_000_000
DOWNLOAD_BYTES: Final = 7_000_000_000
"""Upper bounds, half as much again as the largest environment that was measured
(benchmarks/results/engine_installs.json); what an index has is not known before."""


def indexed_recipe(resolution: Resolution) -> Recipe:
    """Its lock is `resolution.lock`, not a file of the catalogue."""
    build = resolution.build
    own = resolution.packages[0].name
    return Recipe(
        name=build.engine,
        version=resolution.version,
        lock="",
        unlocked=(),
        fallback_index="",
        python=(resolution.python, resolution.python),
        system="Linux",
        machine="x86_64",
        glibc=build.glibc,
        processor_flags_any=("avx512f", "avx2"),
        disk_bytes=DISK_BYTES,
        download_bytes=DOWNLOAD_BYTES,
        memory_bytes=16 * GIB,
        package=own,
        platform=build.platform,
        cuda=int(build.cuda.partition(".")[0] or 0) if build.platform is Platform.CUDA else 0,
        served=False,
        ask=question_of(build.engine, own),
    )
