"""The processor: its name, the instruction sets that it has, its cores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from moonpad.facts.probe import Unknown, parsed, read_text


@dataclass(frozen=True, slots=True)
class Processor:
    """`flags` are the kernel's names (`avx512f`, `avx512_bf16`, `amx_tile`; `asimd` on ARM).

    `physical_cores` counts a core with two threads once; it is Unknown where the kernel does not say (ARM, some virtual
    machines).
    """

    model: str
    flags: frozenset[str]
    threads: int
    physical_cores: int | Unknown


def processor() -> Processor | Unknown:
    return parsed(read_text(Path("/proc/cpuinfo")), parse_cpuinfo)


def parse_cpuinfo(text: str) -> Processor:
    """Reads Linux' /proc/cpuinfo of x86 and ARM: one block of `name : value` lines per thread. Raises ValueError where
    there is none."""
    blocks = [block for block in map(_fields, text.split("\n\n")) if "processor" in block]
    if not blocks:
        raise ValueError("/proc/cpuinfo names no processor")
    # Threads may differ (big.LITTLE): an instruction can be relied on where every one has it.
    flags = [frozenset((block.get("flags") or block.get("Features", "")).split()) for block in blocks]
    cores = {(block["physical id"], block["core id"]) for block in blocks if {"physical id", "core id"} <= block.keys()}
    return Processor(
        model=blocks[0].get("model name") or blocks[0].get("CPU implementer", ""),
        flags=frozenset.intersection(*flags),
        threads=len(blocks),
        physical_cores=len(cores) or Unknown("/proc/cpuinfo does not show which threads share a core"),
    )


def _fields(block: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in block.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}
