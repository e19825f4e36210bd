"""Host memory that weights need, against what the text says that the machine has."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.memory.expert_memory import spoken_ram
from moonpad.explain.commands import Command, Script
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.records import replace
from moonpad.values.units import GIB, gib

_COPIED: Final = frozenset({"--no-mmap", "--mlock"})
_LOADS: Final = ("--load-mode", "-lm")


def as_spoken(
    finding: Finding, memory: Memory | None, script: Script, command: Command, *, maps: bool
) -> Finding | None:
    """The finding about RAM of unknown size, judged by the size that the text gives: None where that is enough. `maps`:
    the engine reads weights from its files as it needs them."""
    host = memory.host if memory is not None else None
    if finding.code is not Code.MEMORY_LOW or host is None or host.available_bytes is not None:
        return finding
    script.budget.once("host memory", 4 * len(script.lines), "the memory of its text")
    sizes = spoken_ram(script.lines)
    if not sizes:
        return finding
    if max(sizes) * GIB >= host.needed_bytes:
        return None
    if not maps:
        return finding  # of experts that lie in files of their own, whose size is not known here
    message = f"each machine needs {gib(host.needed_bytes)} of RAM for its weights, and the text speaks of "
    message += f"{max(sizes):,.0f} GB"
    words = [word.text for word in command.argv]
    copied = bool(_COPIED & {*words}) or any(word in _LOADS or word.startswith("--load-mode=") for word in words)
    if not copied:
        message += ": what has no room there is read from the disk again for each token, which is slow"
    remedy = "take weights of fewer bits, or a machine with more memory"
    return replace(finding, severity=Severity.WARNING, message=message, remedy=remedy)
