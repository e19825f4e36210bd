"""What the machines of one run must agree on, and the findings where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from moonpad.values.deployment import Resources
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.units import GIB, gib

LOG_BYTES: Final = 1 * GIB
"""Room that a run's folder should have on every machine: logs, events, results."""
CLOCK_LIMIT_S: Final = 2.0
"""Logs of machines further apart cannot be read side by side."""


class HostFacts(Struct, frozen=True):
    """Of one machine; None where the thing is not there. `clock_off_s`: how far its clock is ahead of the first one's,
    at least; `interface`: the network interface with the address of the spec; `trouble`: why it cannot reach the
    first one's rendezvous port, "" where it can. `memory_bytes` is available RAM, `disk_bytes` free where logs go, and
    `devices` as many as its drivers show."""

    node: str
    host: str
    engine: Mapping[str, str] | None
    driver: str | None
    checkpoint: str | None
    clock_off_s: float
    has_address: bool
    interface: str | None
    trouble: str
    memory_bytes: int | None
    disk_bytes: int | None
    devices: int


def compare(
    address_of: Mapping[str, str], hosts: Sequence[HostFacts], needs: Mapping[str, Resources]
) -> tuple[Finding, ...]:
    """What is in the way of a run over these machines; the first one is what the others are measured by, and has been
    looked at more closely itself."""
    first, *others = hosts
    return (
        *(finding for host in hosts for finding in _alone(address_of[host.node], host)),
        *(finding for host in others for finding in _beside(first, host)),
        *(finding for host in others for finding in _room(host, needs[host.node])),
    )


def _alone(address: str, host: HostFacts) -> Iterator[Finding]:
    if not host.has_address:
        yield _finding(host, f"{address} is not an address of {host.host}", "correct address in its [[hosts]] table")
    if host.engine is None:
        remedy = "install it there, and set engine_folder in its [[hosts]] table"
        yield _finding(host, "there is no engine", remedy, Code.ENGINE_MISSING)
    if host.checkpoint is None:
        remedy = "copy it there, and set checkpoint_folder in its [[hosts]] table"
        yield _finding(host, "there is no checkpoint", remedy, Code.CHECKPOINT_MISSING)


def _beside(first: HostFacts, host: HostFacts) -> Iterator[Finding]:
    if host.engine is not None and first.engine is not None and host.engine != first.engine:
        versions = ", ".join(
            f"{name} {host.engine.get(name, 'none')} against {first.engine.get(name, 'none')}"
            for name in sorted({*host.engine, *first.engine})
            if host.engine.get(name) != first.engine.get(name)
        )
        yield _finding(host, f"a different engine from {first.host}: {versions}", "install the same one on all hosts")
    if host.checkpoint is not None and first.checkpoint is not None and host.checkpoint != first.checkpoint:
        remedy = "copy it again: its files or their sizes differ"
        yield _finding(host, f"a different checkpoint from {first.host}", remedy)
    if host.driver != first.driver:
        message = f"driver {host.driver or 'none'}, on {first.host} {first.driver or 'none'}"
        yield _finding(host, message, "install the same driver on all hosts", severity=Severity.WARNING)
    if abs(host.clock_off_s) > CLOCK_LIMIT_S:
        message = f"its clock is {host.clock_off_s:+.1f} s off that of {first.host}"
        yield _finding(host, message, "synchronise both with NTP", severity=Severity.WARNING)
    if host.trouble:
        yield _finding(host, f"cannot reach {first.host}: {host.trouble}", "allow traffic between the hosts' addresses")


def _room(host: HostFacts, needs: Resources) -> Iterator[Finding]:
    if host.memory_bytes is not None and host.memory_bytes < needs.memory_bytes:
        message = f"{gib(needs.memory_bytes)} of RAM is needed; {host.host} has {gib(host.memory_bytes)} available"
        yield _finding(host, message, "free memory there", Code.MEMORY_LOW)
    if host.disk_bytes is not None and host.disk_bytes < LOG_BYTES:
        message = f"{gib(host.disk_bytes)} is free for logs on {host.host}; {gib(LOG_BYTES)} is needed"
        yield _finding(host, message, "free disk space there", Code.DISK_LOW)
    if host.devices < needs.devices:
        message = f"{needs.devices} devices are needed; the drivers of {host.host} report {host.devices}"
        yield _finding(host, message, "use another machine, or repair its driver")


def _finding(
    host: HostFacts, message: str, remedy: str, code: Code = Code.HOSTS_DIFFER, severity: Severity = Severity.ERROR
) -> Finding:
    return Finding(severity, code, host.node, message, remedy)
