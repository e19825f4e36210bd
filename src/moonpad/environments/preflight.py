"""What must be so before anything is downloaded. `Machine` is gathered once; the checks are pure."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from moonpad.engines.recipe import Recipe
from moonpad.environments.places import cache_home
from moonpad.facts.device import DeviceFacts
from moonpad.facts.device_findings import device_findings
from moonpad.facts.devices import devices
from moonpad.facts.disk import Disk, disk
from moonpad.facts.memory import Memory, memory
from moonpad.facts.platform import System, this_system
from moonpad.facts.probe import Unknown
from moonpad.facts.processor import Processor, processor
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.units import gib


@dataclass(frozen=True, slots=True)
class Machine:
    """The facts that decide whether an engine can be installed. `python` is our own: the environment is made of it."""

    system: System
    python: tuple[int, int]
    has_venv: bool
    processor: Processor | Unknown
    memory: Memory | Unknown
    devices: DeviceFacts | Unknown | None = None
    """None where nobody asked for them."""


def this_machine(recipe: Recipe) -> Machine:
    """The devices are asked for where the recipe is for one."""
    return Machine(
        system=this_system(),
        python=sys.version_info[:2],
        # Debian and Ubuntu ship them apart from Python.
        has_venv=all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip")),
        processor=processor(),
        memory=memory(),
        devices=devices() if recipe.cuda else None,
    )


def refuse_other_machines(recipe: Recipe, machine: Machine) -> tuple[Finding, ...]:
    """The warnings.

    Raises:
        PreflightRefused: the engine can never run on this machine.
    """
    if (machine.system.system, machine.system.machine) != (recipe.system, recipe.machine):
        raise PreflightRefused(
            f"{recipe.name} needs {recipe.system} on {recipe.machine}, and this is {machine.system}; "
            "everything that needs no local engine goes on working."
        )
    findings = (
        *_python(recipe, machine),
        *_processor(recipe, machine),
        *_memory(recipe, machine),
        *_devices(recipe, machine),
    )
    return _refuse(recipe, findings)


def refuse_full_disks(
    recipe: Recipe, needs: Mapping[Path, int], disks: Mapping[Path, Disk | Unknown]
) -> tuple[Finding, ...]:
    """The warnings. `needs` is what will be written where; places on one filesystem are added up.

    Raises:
        PreflightRefused: one of the filesystems is too full.
    """
    return _refuse(recipe, tuple(_disks(needs, disks)))


def disk_needs(recipe: Recipe, folder: Path, there_bytes: int) -> dict[Path, int]:
    """The environment, pip's cache and its temporary folder. `there_bytes` of the environment are there already."""
    needs = {folder: max(0, recipe.disk_bytes - there_bytes)}
    cache = Path(os.environ.get("PIP_CACHE_DIR") or cache_home() / "pip")
    for place in (cache, Path(tempfile.gettempdir())):
        needs[place] = needs.get(place, 0) + recipe.download_bytes
    return needs


def disks_of(needs: Mapping[Path, int]) -> dict[Path, Disk | Unknown]:
    return {path: disk(path) for path in needs}


def _refuse(recipe: Recipe, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    if errors := errors_of(findings):
        raise PreflightRefused(f"{recipe.name} {recipe.version} cannot be installed here", findings=errors)
    return findings


def _python(recipe: Recipe, machine: Machine) -> Iterator[Finding]:
    first, last = recipe.python
    if not first <= machine.python <= last:
        yield Finding(
            Severity.ERROR,
            Code.PLATFORM_UNSUPPORTED,
            "Python",
            f"moonpad runs on {_dotted(machine.python)}, its packages exist for {_dotted(first)} to {_dotted(last)}",
            f"install moonpad with a Python from {_dotted(first)} to {_dotted(last)}",
        )
    elif not machine.has_venv:
        yield Finding(
            Severity.ERROR,
            Code.PLATFORM_UNSUPPORTED,
            "Python",
            f"this Python {_dotted(machine.python)} came without the modules venv and ensurepip",
            f"install them (Debian, Ubuntu: apt install python{_dotted(machine.python)}-venv)",
        )
    glibc = machine.system.glibc
    if recipe.glibc is not None and (glibc is None or glibc < recipe.glibc):
        yield Finding(
            Severity.ERROR,
            Code.PLATFORM_UNSUPPORTED,
            "C library",
            f"its packages need glibc {_dotted(recipe.glibc)}, this system has "
            + (f"glibc {_dotted(glibc)}" if glibc else "another C library"),
            "use a newer distribution, or a container",
        )


def _processor(recipe: Recipe, machine: Machine) -> Iterator[Finding]:
    found = machine.processor
    if isinstance(found, Unknown):
        yield Finding(Severity.WARNING, Code.PROCESSOR_UNSUPPORTED, "processor", f"unknown ({found.reason})")
    elif not found.flags & set(recipe.processor_flags_any):
        yield Finding(
            Severity.ERROR,
            Code.PROCESSOR_UNSUPPORTED,
            "processor",
            f"{found.model or 'this processor'} has none of {', '.join(recipe.processor_flags_any)}; one is needed",
            "use another machine (in a virtual machine: pass the host's processor through)",
        )


def _memory(recipe: Recipe, machine: Machine) -> Iterator[Finding]:
    found = machine.memory
    if isinstance(found, Unknown):
        yield Finding(Severity.WARNING, Code.MEMORY_LOW, "memory", f"unknown ({found.reason})")
    elif found.total_bytes < recipe.memory_bytes:
        limit = f"the limit of the cgroup {found.limited_by}" if found.limited_by else "the RAM of this machine"
        yield Finding(
            Severity.ERROR,
            Code.MEMORY_LOW,
            "memory",
            f"it takes {gib(recipe.memory_bytes)} to serve the smallest model, {limit} is {gib(found.total_bytes)}",
            "use a machine (or a limit) with more memory",
        )


def _devices(recipe: Recipe, machine: Machine) -> Iterator[Finding]:
    """Warnings alone: a driver can be brought up to date after the installation, and a disk be shared by machines."""
    found = machine.devices
    if not recipe.cuda or found is None:
        return
    if isinstance(found, DeviceFacts) and not found.devices:
        message = "this machine shows none: the engine can be installed, and will not start here"
        yield Finding(Severity.WARNING, Code.PLATFORM_UNSUPPORTED, "devices", message)
        return
    for one in device_findings(found, cuda=recipe.cuda):
        yield replace(one, severity=Severity.WARNING)


def _disks(needs: Mapping[Path, int], disks: Mapping[Path, Disk | Unknown]) -> Iterator[Finding]:
    by_device: dict[int, list[Path]] = {}
    for path, found in disks.items():
        if isinstance(found, Unknown):
            yield Finding(Severity.WARNING, Code.DISK_LOW, str(path), f"free space unknown ({found.reason})")
        else:
            by_device.setdefault(found.device, []).append(path)
    for paths in by_device.values():
        needed_bytes = sum(needs[path] for path in paths)
        free = min(found.free_bytes for path in paths if isinstance(found := disks[path], Disk))
        if free < needed_bytes:
            yield Finding(
                Severity.ERROR,
                Code.DISK_LOW,
                ", ".join(str(path) for path in paths),
                f"{gib(needed_bytes)} is needed there, {gib(free)} is free",
                "free some space, or set XDG_CACHE_HOME, PIP_CACHE_DIR and TMPDIR to folders on another disk",
            )


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
