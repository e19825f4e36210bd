"""What must be true before anything is started. All checks are made, so that one refusal names everything."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from moonpad.facts.device import DeviceFacts
from moonpad.facts.device_findings import device_findings
from moonpad.facts.disk import disk
from moonpad.facts.memory import memory
from moonpad.facts.ports import owner_of_port
from moonpad.facts.probe import Unknown
from moonpad.render.proxy import PROGRAM, front_of
from moonpad.run.keeper.locks import read_holder
from moonpad.store.paths import port_claim, state_home
from moonpad.values.deployment import Deployment
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.host_facts import LOG_BYTES
from moonpad.values.references import PortRef
from moonpad.values.units import gib


def check(deployment: Deployment, ports: Mapping[PortRef, int], elsewhere: Container[str] = ()) -> tuple[Finding, ...]:
    """Findings of this host: ports, memory, disk. `elsewhere` are the nodes that are other hosts."""
    findings: list[Finding] = list(_front(deployment))
    for process in (process for process in deployment.processes if process.node not in elsewhere):
        for port in process.ports:
            findings.extend(_port(ports[PortRef(process.name, port.name)]))
        findings.extend(check_memory(process.name, process.needs.memory_bytes))
    findings.extend(_disk(state_home()))
    return tuple(findings)


def check_devices(there: DeviceFacts | Unknown | None, needed: int) -> tuple[Finding, ...]:
    """The devices of this host: enough, healthy, idle, of one kind (fault 26). None: the engine runs on a CPU."""
    return () if there is None else device_findings(there, needed)


def _front(deployment: Deployment) -> Iterator[Finding]:
    if front_of(deployment) and not os.access(PROGRAM, os.X_OK):
        message = f"[endpoint] expose needs nginx, and there is no {PROGRAM}"
        yield Finding(Severity.ERROR, Code.TOOL_MISSING, "endpoint.expose", message, "install nginx (1.19.5 or later)")


def _port(number: int) -> Iterator[Finding]:
    owner = owner_of_port(number)
    if owner is not None:
        remedy = "stop that process, or set another [endpoint] port"
        message = f"port {number} is taken by {owner}{_claim(number)}"
        yield Finding(Severity.ERROR, Code.PORT_TAKEN, "endpoint.port", message, remedy)


def _claim(number: int) -> str:
    """Whose run has claimed the port, where the claim is held: a run that ended may have left its file."""
    path = port_claim(number)
    try:
        inode, locks = path.stat().st_ino, Path("/proc/locks").read_text()
    except OSError:
        return ""
    holder = read_holder(str(path))
    if not holder or not re.search(rf":{inode}\s", locks):
        return ""
    return f", of {holder.get('run')}, started by {holder.get('user')} on {holder.get('host')} since {holder.get('at')}"


def check_memory(name: str, needed: int) -> Iterator[Finding]:
    """Whether this host has that much RAM available; `name`: what needs it."""
    ram = memory()
    if isinstance(ram, Unknown):
        yield Finding(Severity.WARNING, Code.MEMORY_LOW, "memory", f"unknown ({ram.reason})")
    elif ram.available_bytes < needed:
        message = f"{name} needs {gib(needed)} of RAM at its peak, {gib(ram.available_bytes)} is available"
        remedy = "free memory, or lower [settings] kv_cache_gib"
        yield Finding(Severity.ERROR, Code.MEMORY_LOW, "memory", message, remedy)


def _disk(folder: Path) -> Iterator[Finding]:
    filesystem = disk(folder)
    if isinstance(filesystem, Unknown):
        yield Finding(Severity.WARNING, Code.DISK_LOW, str(folder), f"free space unknown ({filesystem.reason})")
    elif filesystem.free_bytes < LOG_BYTES:
        message = f"{gib(filesystem.free_bytes)} is free where logs and results go, {gib(LOG_BYTES)} is needed"
        remedy = "free some space, or set XDG_STATE_HOME to another disk"
        yield Finding(Severity.ERROR, Code.DISK_LOW, str(folder), message, remedy)
