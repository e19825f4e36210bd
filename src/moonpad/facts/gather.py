"""What there is on this host, as one document for the run folder. What is not known says why."""

from __future__ import annotations

from dataclasses import asdict

from moonpad.facts.memory import memory
from moonpad.facts.platform import this_system
from moonpad.facts.probe import Unknown
from moonpad.facts.processor import Processor, processor


def gather() -> dict[str, object]:
    """System, processor and memory (bytes, now). An unknown fact is `unknown (reason)`, never null or zero."""
    found, ram = processor(), memory()
    return {
        "system": str(this_system()),
        "processor": _said(found) if isinstance(found, Unknown) else _processor(found),
        "memory": _said(ram) if isinstance(ram, Unknown) else asdict(ram),
    }


def _processor(found: Processor) -> dict[str, object]:
    cores = found.physical_cores
    return {
        "model": found.model,
        "threads": found.threads,
        "physical_cores": _said(cores) if isinstance(cores, Unknown) else cores,
        "flags": sorted(found.flags),
    }


def _said(fact: Unknown) -> str:
    return f"unknown ({fact.reason})"
