"""What is looked at on each host, in the order in which it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.doctor.checks import containers, devices, memory, network, software, storage, topology
from moonpad.doctor.need import Need
from moonpad.doctor.survey import Survey
from moonpad.values.finding import Finding

Check = Callable[[Survey, Need], Iterator[Finding]]

CHECKS: Final[tuple[tuple[str, tuple[Check, ...]], ...]] = (
    ("devices", (devices.sound, devices.whose, devices.health, devices.fabric, devices.visible)),
    ("topology", (topology.links,)),
    ("software", (software.versions, software.ascend, software.python, software.engine, software.known_weaknesses)),
    ("memory", (memory.ram, memory.shared, memory.limits, memory.swap, memory.numa)),
    ("disk", (storage.room, storage.speed)),
    ("network", (network.addresses, network.interfaces, network.names, network.proxies, network.rdma, network.ports)),
    ("containers", (containers.runtime,)),
    ("clock", (network.clock,)),
)
"""By subject."""


def findings_of(survey: Survey, need: Need) -> dict[str, tuple[Finding, ...]]:
    """By subject, every subject in it."""
    return {
        subject: tuple(finding for check in checks for finding in check(survey, need)) for subject, checks in CHECKS
    }
