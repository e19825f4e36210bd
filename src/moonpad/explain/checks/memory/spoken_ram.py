"""Host memory that weights need, against what the text says that the machine has."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from moonpad.catalog.gguf import type_bits
from moonpad.engines import host_expert_names as names
from moonpad.explain.checks.memory.expert_memory import spoken_ram
from moonpad.explain.commands import Command, Script
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.records import replace
from moonpad.values.units import GIB, gib

_COPIED: Final = frozenset({"--no-mmap", "--mlock"})
_TYPE: Final = re.compile(r"(?<![a-z0-9])(?:ud-)?(?:i?q[1-8]_[a-z0-9_]+|tq1_0)(?![a-z0-9_])", re.IGNORECASE)
_RICHER: Final = "ud-"
_ROOM: Final = 0.95
"""Of the memory that the text speaks of: the system has its part."""
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
    words = [word.text for word in command.argv]
    whose = " for its weights" if maps else ""
    message = f"each machine needs {gib(host.needed_bytes)} of RAM{whose}, and the text speaks of {max(sizes):,.0f} GB"
    if not maps:
        of_experts = names.EXPERTS[0] in words  # in files whose size is not known here
        if of_experts:
            return replace(finding, message=message) if _holds_the_model(words) else finding
        remedy = "keep less of weights and caches there, or take a machine with more memory"
        return replace(finding, message=message, severity=Severity.WARNING, remedy=remedy)
    copied = bool(_COPIED & {*words}) or any(word in _LOADS or word.startswith("--load-mode=") for word in words)
    if not copied:
        message += ": what has no room there is read from the disk again for each token, which is slow"
    smaller = _of_fewer_bits(words, host.needed_bytes, max(sizes) * GIB)
    remedy = f"take weights of fewer bits{smaller}, or a machine with more memory"
    return replace(finding, severity=Severity.WARNING, message=message, remedy=remedy)


def _of_fewer_bits(words: list[str], needed: int, there: float) -> str:
    """` (UD-TQ1_0 takes about 224.00 GiB)`: the largest type of file that has room, of the same kind of types; "" where
    none has, or the type in use is not known."""
    types = {each for word in words for each in _TYPE.findall(word)}
    known = type_bits()
    used = known.get(types.pop().casefold()) if len(types) == 1 else None
    name = next((each for word in words for each in _TYPE.findall(word)), "")
    if used is None:
        return ""
    ours = [
        (row.bits[1], key)
        for key, row in known.items()
        if key.startswith(_RICHER) == name.casefold().startswith(_RICHER)
        and row.bits[1] * needed / used.bits[0] <= _ROOM * there
    ]
    if not ours:
        return ""
    bits, key = max(ours)
    return f" ({key.upper()} takes about {gib(round(bits * needed / used.bits[0]))})"


def _holds_the_model(words: list[str]) -> bool:
    """Whether the experts are read from the model's own files."""
    given = dict(pairwise(words))
    files = names.EXPERTS[0]
    return files in given and given[files] in [given.get(option) for option in ("--model", "--model-path")]
