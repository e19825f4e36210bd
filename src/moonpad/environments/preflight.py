"""What must be true before anything is downloaded. `Machine` is gathered once; the checks are pure."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moonpad.engines.install_recipe import Recipe
from moonpad.environments.paths import cache_home
from moonpad.facts.device import DeviceFacts
from moonpad.facts.device_findings import OLDEST_CUDA, device_findings
from moonpad.facts.devices import devices
from moonpad.facts.disk import Disk
from moonpad.facts.memory import Ram, memory
from moonpad.facts.platform import System, this_system
from moonpad.facts.probe import Unknown
from moonpad.facts.processor import Processor, processor
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.units import gib

DEVICE_PLATFORMS: Final = (Platform.CUDA, Platform.ROCM)


@dataclass(frozen=True, slots=True)
class Machine:
    """The facts that decide whether an engine can be installed. `python` is our own: the environment is made of it."""

    system: System
    python: tuple[int, int]
    has_venv: bool
    processor: Processor | Unknown
    memory: Ram | Unknown
    devices: DeviceFacts | Unknown | None = None
    """None where the recipe is not for one."""


def this_machine(recipe: Recipe) -> Machine:
    return Machine(
        system=this_system(),
        python=sys.version_info[:2],
        # Debian and Ubuntu ship them apart from Python.
        has_venv=all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip")),
        processor=processor(),
        memory=memory(),
        devices=devices() if recipe.platform in DEVICE_PLATFORMS else None,
    )


def refuse_other_machines(recipe: Recipe, machine: Machine) -> tuple[Finding, ...]:
    """The warnings. Raises PreflightRefused: the engine can never run on this machine."""
    if (machine.system.system, machine.system.machine) != (recipe.system, recipe.machine):
        raise PreflightRefused(
            f"{recipe.name} needs {recipe.system} on {recipe.machine}, and this is {machine.system}; "
            "everything that needs no local engine still works."
        )
    checks = (_python, _processor, _memory, _devices)
    return _refuse(recipe, tuple(finding for check in checks for finding in check(recipe, machine)))


def refuse_full_disks(
    recipe: Recipe, needs: Mapping[Path, int], disk_of: Callable[[Path], Disk | Unknown]
) -> tuple[Finding, ...]:
    """The warnings. `needs` is what will be written where; places on one filesystem are added up. Raises
    PreflightRefused: one of the filesystems is too full."""
    return _refuse(recipe, tuple(_disks(needs, disk_of)))


def disk_needs(recipe: Recipe, folder: Path, there_bytes: int) -> dict[Path, int]:
    """The environment, pip's cache and its temporary folder. `there_bytes` of the environment are there already."""
    needs = {folder: max(0, recipe.disk_bytes - there_bytes)}
    cache = Path(os.environ.get("PIP_CACHE_DIR") or cache_home() / "pip")
    for place in (cache, Path(tempfile.gettempdir())):
        needs[place] = needs.get(place, 0) + recipe.download_bytes
    return needs


def _refuse(recipe: Recipe, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    if errors := errors_of(findings):
        raise PreflightRefused(f"{recipe.name} {recipe.version} cannot be installed here", findings=errors)
    return findings


def _python(recipe: Recipe, machine: Machine) -> Iterator[Finding]:
    (first, last), ours = map(_dotted, recipe.python), _dotted(machine.python)
    if not recipe.python[0] <= machine.python <= recipe.python[1]:
        versions = first if first == last else f"{first} to {last}"
        message = f"moonpad runs on Python {ours}; the engine has packages for {versions}"
        yield _error("Python", message, f"install moonpad with Python {versions}")
    elif not machine.has_venv:
        message = f"this Python {ours} came without the modules venv and ensurepip"
        yield _error("Python", message, f"install them (Debian, Ubuntu: apt install python{ours}-venv)")
    glibc = machine.system.glibc
    if recipe.glibc is not None and (glibc is None or glibc < recipe.glibc):
        present = f"glibc {_dotted(glibc)}" if glibc else "another C library"
        message = f"its packages need glibc {_dotted(recipe.glibc)}, this system has {present}"
        yield _error("C library", message, "use a newer distribution, or a container")


def _processor(recipe: Recipe, machine: Machine) -> Iterator[Finding]:
    cpu, flags = machine.processor, recipe.processor_flags_any
    if isinstance(cpu, Unknown):
        yield Finding(Severity.WARNING, Code.PROCESSOR_UNSUPPORTED, "processor", f"unknown ({cpu.reason})")
    elif not cpu.flags & set(flags):
        message = f"{cpu.model or 'this processor'} has none of {', '.join(flags)}; one is needed"
        remedy = "use another machine (in a virtual machine: pass the host's processor through)"
        yield _error("processor", message, remedy, Code.PROCESSOR_UNSUPPORTED)


def _memory(recipe: Recipe, machine: Machine) -> Iterator[Finding]:
    ram = machine.memory
    if isinstance(ram, Unknown):
        yield Finding(Severity.WARNING, Code.MEMORY_LOW, "memory", f"unknown ({ram.reason})")
    elif ram.total_bytes < recipe.memory_bytes:
        limit = f"the limit of the cgroup {ram.limited_by}" if ram.limited_by else "the RAM of this machine"
        needed = f"at least {gib(recipe.memory_bytes)} is needed to run it"
        message = f"{needed}, {limit} is {gib(ram.total_bytes)}"
        yield _error("memory", message, "use a machine (or a limit) with more memory", Code.MEMORY_LOW)


def _devices(recipe: Recipe, machine: Machine) -> Iterator[Finding]:
    """Warnings alone: a driver can be updated after the installation, and a disk be shared by machines."""
    if recipe.platform not in DEVICE_PLATFORMS or machine.devices is None:
        return
    if isinstance(machine.devices, DeviceFacts) and not machine.devices.devices:
        message = "this machine has none: the engine can be installed, and will not start here"
        yield Finding(Severity.WARNING, Code.PLATFORM_UNSUPPORTED, "devices", message)
        return
    for finding in device_findings(machine.devices, cuda=recipe.cuda or OLDEST_CUDA):
        yield replace(finding, severity=Severity.WARNING)


def _disks(needs: Mapping[Path, int], disk_of: Callable[[Path], Disk | Unknown]) -> Iterator[Finding]:
    by_device: dict[int, list[tuple[Path, int]]] = {}
    for path in needs:
        filesystem = disk_of(path)
        if isinstance(filesystem, Unknown):
            message = f"free space unknown ({filesystem.reason})"
            yield Finding(Severity.WARNING, Code.DISK_LOW, str(path), message)
        else:
            by_device.setdefault(filesystem.device, []).append((path, filesystem.free_bytes))
    for places in by_device.values():
        needed_bytes, free_bytes = sum(needs[path] for path, _ in places), min(free for _, free in places)
        if free_bytes < needed_bytes:
            message = f"{gib(needed_bytes)} is needed there, {gib(free_bytes)} is free"
            remedy = "free some space, or set XDG_CACHE_HOME, PIP_CACHE_DIR and TMPDIR to folders on another disk"
            yield _error(", ".join(str(path) for path, _ in places), message, remedy, Code.DISK_LOW)


def _error(where: str, message: str, remedy: str, code: Code = Code.PLATFORM_UNSUPPORTED) -> Finding:
    return Finding(Severity.ERROR, code, where, message, remedy)


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
