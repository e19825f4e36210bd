"""What there is on this host, as one document for the run folder. What is not known says why."""

from __future__ import annotations

from moonpad.facts.device import or_reason
from moonpad.facts.devices import devices
from moonpad.facts.memory import memory
from moonpad.facts.platform import this_system
from moonpad.facts.probe import Unknown
from moonpad.facts.processor import processor
from moonpad.values.records import as_dict


def gather() -> dict[str, object]:
    """System, processor, memory and devices (bytes, now). An unknown fact is `unknown (reason)`, never null or zero.

    Takes no longer than the deadline of a driver's tool, and a moment where there is none.
    """
    cpu, ram, accelerators = processor(), memory(), devices()
    if not isinstance(cpu, Unknown):
        cores = or_reason(cpu.physical_cores)
        shown = {"model": cpu.model, "threads": cpu.threads, "physical_cores": cores, "flags": sorted(cpu.flags)}
    return {
        "system": str(this_system()),
        "processor": or_reason(cpu) if isinstance(cpu, Unknown) else shown,
        "memory": or_reason(ram) if isinstance(ram, Unknown) else as_dict(ram),
        "devices": or_reason(accelerators) if isinstance(accelerators, Unknown) else accelerators.as_json(),
    }
