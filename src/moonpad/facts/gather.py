"""What there is on this host, as one document for the run folder. What is not known says why."""

from __future__ import annotations

from dataclasses import asdict

from moonpad.facts.device import said
from moonpad.facts.devices import devices
from moonpad.facts.memory import memory
from moonpad.facts.platform import this_system
from moonpad.facts.probe import Unknown
from moonpad.facts.processor import Processor, processor


def gather() -> dict[str, object]:
    """System, processor, memory and devices (bytes, now). An unknown fact is `unknown (reason)`, never null or zero.

    Takes no longer than the deadline of a driver's tool, and a moment where there is none.
    """
    found, ram, accelerators = processor(), memory(), devices()
    return {
        "system": str(this_system()),
        "processor": said(found) if isinstance(found, Unknown) else _processor(found),
        "memory": said(ram) if isinstance(ram, Unknown) else asdict(ram),
        "devices": said(accelerators) if isinstance(accelerators, Unknown) else accelerators.as_json(),
    }


def _processor(found: Processor) -> dict[str, object]:
    cores = found.physical_cores
    return {
        "model": found.model,
        "threads": found.threads,
        "physical_cores": said(cores),
        "flags": sorted(found.flags),
    }
