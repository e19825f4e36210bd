"""What a class of one's own adds to the engine's workers: what the engine's models lack, it may bring."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.results import Remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_CLASSES: Final = ("--worker-extension-cls", "--worker-cls")
_OF_A_MODEL: Final = frozenset({Code.CONFLICT, Code.ILLEGAL_LAYOUT, Code.KNOWN_REPORT, Code.UNSUPPORTED_FORMAT})
_GENERAL: Final = frozenset({"enable", "max", "model", "modules", "size", "num", "dtype", "type", "backend", "worker"})
"""Parts of options that say nothing of what they are about."""
_SHORTEST: Final = 4


def but_extended(remarks: Sequence[Remark], command: Command) -> Sequence[Remark]:
    """As a note what is said of an option whose subject is in the name of such a class: `--enable-lora` beside
    `kimi_lora_patch.LoRAExtension`."""
    classes = [value.text for name in _CLASSES if (value := value_of(command.argv, (name,))) is not None]
    return [_extended(remark, classes) for remark in remarks] if classes else remarks


def _extended(remark: Remark, classes: Sequence[str]) -> Remark:
    finding = remark.finding
    by = next((each for each in classes if _is_about(finding.where, each)), "")
    if not by or finding.severity is Severity.NOTE or finding.code not in _OF_A_MODEL:
        return remark
    message = f"{finding.message}; the command loads {by}, which may change that"
    finding = replace(finding, severity=Severity.NOTE, message=message, remedy="")
    return replace(remark, finding=finding, edits=(), others=(), ends_start=False, stops=False)


def _is_about(where: str, name: str) -> bool:
    words = {word.rstrip("s") for word in re.split(r"[-_]", where.lower()) if len(word) >= _SHORTEST} - _GENERAL
    return any(word in name.lower() for word in words)
