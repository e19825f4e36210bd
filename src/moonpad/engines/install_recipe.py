"""How an engine, or a program beside the engines, is installed, as data. `environments/` executes it."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from moonpad.values.platform import Platform
from moonpad.values.units import GIB


class Recipe(Struct, frozen=True):
    """An environment of pinned packages.

    `lock` is a file of the catalogue with one `name==version --hash=…` a package, installed without resolving anything.
    `unlocked` are packages that a lock with hashes cannot name, because two builds of the same version exist.
    `fallback_index` is asked for those only when the user's own pip configuration does not have them.
    """

    name: str
    version: str
    lock: str
    unlocked: tuple[str, ...]
    fallback_index: str
    python: tuple[tuple[int, int], tuple[int, int]]
    """First and last minor version of Python that the packages exist for."""
    system: str
    machine: str
    glibc: tuple[int, int] | None
    """The oldest C library that the packages' wheels are made for (the highest manylinux tag among them)."""
    processor_flags_any: tuple[str, ...]
    """One of these must stand in the processor's flags."""
    disk_bytes: int
    """Measured size of the finished environment."""
    download_bytes: int
    """Measured size of the files that are fetched, packed."""
    memory_bytes: int
    """Host RAM that a deployment is planned with, its weights and its KV cache apart: an upper bound. Of a program that
    serves no model, what it takes itself."""
    package: str = ""
    """The distribution of the engine itself, where it is not called like the recipe."""
    platform: Platform = Platform.CPU
    cuda: int = 0
    """The major version of CUDA that its packages are built for, 0 without any."""
    served: bool = True
    """Whether a model was served from it; else it was installed and asked for its version, and no more."""
    ask: tuple[str, ...] = ()
    """The command and its arguments that print the version, where the engine's own way needs a device."""
    alias: tuple[str, str] | None = None
    """(distribution, version) whose metadata the engine asks for although its package has another name."""


class Installable(Protocol):
    """What can be installed in an environment of its own: an engine, or a tool."""

    @property
    def name(self) -> str: ...
    @property
    def command(self) -> str:
        """Its executable's name inside its environment."""

    @property
    def recipe(self) -> Recipe | None: ...
    @property
    def version_args(self) -> tuple[str, ...]:
        """The arguments at which the command prints its version."""


class Tool(Struct, frozen=True):
    """A program that serves no model and is installed as the engines are. Its recipe says how its version is asked."""

    name: str
    command: str
    recipe: Recipe
    version_args: tuple[str, ...] = ()
    next_command: str = ""
    """What to do with it once it is there."""


def question_of(name: str, package: str) -> tuple[str, ...]:
    """Prints the version in a way that loads torch with all its libraries, and looks for no device."""
    ask = f"import torch; from importlib.metadata import version; print({name!r}, version({package!r}))"
    return ("python", "-c", ask)


def wheel_recipe(
    name: str,
    version: str,
    *,
    glibc: tuple[int, int],
    last_python: tuple[int, int],
    processor_flags_any: tuple[str, ...],
    disk_bytes: int,
    download_bytes: int,
    memory_bytes: int,
    ask: tuple[str, ...],
    package: str = "",
    platform: Platform = Platform.CPU,
    cuda: int = 0,
    served: bool = True,
) -> Recipe:
    """A published wheel for Linux on x86-64 with all that it asks for, each package in the lock of that name."""
    return Recipe(
        name=name,
        version=version,
        lock=f"{name}-{version}.txt",
        unlocked=(),
        fallback_index="",
        python=((3, 11), last_python),
        system="Linux",
        machine="x86_64",
        glibc=glibc,
        processor_flags_any=processor_flags_any,
        disk_bytes=disk_bytes,
        download_bytes=download_bytes,
        memory_bytes=memory_bytes,
        package=package,
        platform=platform,
        cuda=cuda,
        served=served,
        ask=ask,
    )


def cuda_recipe(
    name: str, version: str, *, disk_bytes: int, download_bytes: int, cuda: int = 13, package: str = ""
) -> Recipe:
    """The engine's published wheel, built for CUDA. It was installed on a machine without a device, so its version is
    asked for in a way that needs none."""
    return wheel_recipe(
        name,
        version,
        glibc=(2, 35),
        last_python=(3, 12),
        processor_flags_any=("avx512f", "avx2"),
        disk_bytes=disk_bytes,
        download_bytes=download_bytes,
        memory_bytes=16 * GIB,
        package=package,
        platform=Platform.CUDA,
        cuda=cuda,
        served=False,
        ask=question_of(name, package or name),
    )


def tool_recipe(
    name: str, version: str, *, glibc: tuple[int, int], module: str, disk_bytes: int, download_bytes: int
) -> Recipe:
    """A program that needs no torch. Its version is asked for once that module was imported, which loads what of it is
    not Python."""
    return wheel_recipe(
        name,
        version,
        glibc=glibc,
        last_python=(3, 14),
        processor_flags_any=("avx512f", "avx2", "sse4_2"),
        disk_bytes=disk_bytes,
        download_bytes=download_bytes,
        memory_bytes=GIB,
        ask=(
            "python",
            "-c",
            f"import {module}; from importlib.metadata import version; print({name!r}, version({name!r}))",
        ),
    )
