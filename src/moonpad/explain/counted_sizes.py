"""Sizes that a script counts when it runs, `TP=$(nvidia-smi -L | wc -l)` and what it computes of that: as many as the
one machine of the text has devices, or one where the text asks for a single device."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines import ENGINES
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Judged, Remark
from moonpad.explain.shell.arithmetic import evaluate
from moonpad.values.finding import OF_MEMORY, Severity
from moonpad.values.records import replace

_LONGEST: Final = 500
_COUNT: Final = (
    r"(?:\$\(|`)[ ]?(?:nvidia-smi[ ](?:-L|--list-gpus|--query-gpu=[\w.,]{1,60}[ ]--format=csv,noheader(?:,nounits)?)"
    r"(?:[ ]2>[ ]?/dev/null)?[ ]?\|[ ]?wc[ ]-l"
    r"|python3?[ ]-c[ ][\"']import torch; ?print\(torch\.cuda\.device_count\(\)\)[\"'])[ ]?(?:\)|`)"
)
_COUNTED: Final = re.compile(_COUNT)
_ASSIGNED: Final = re.compile(rf"[ \t]*(?:(?:export|local|readonly|declare)[ ])?(?P<name>[A-Za-z_]\w*)=\"?{_COUNT}\"?")
_ARITHMETIC: Final = re.compile(r"\$\(\((?P<inside>[^()]{1,80})\)\)")
_ONE_DEVICE: Final = re.compile(
    r"\b(?:one|single|1[ ]?[x×])[ -](?:[\w/-]{1,20}[ ]){0,3}(?:GPU|card)\b"
    r"|\bGPU with (?:at least )?\d{2,3}[ ]?GB?\b|\b(?:an?|one) \d{2,3}[ ]?GB GPU\b",
    re.IGNORECASE,
)
_AS_ASKED: Final = "with one device, as the text asks for: "


def with_counted_sizes(
    judged: Judged, command: Command, script: Script, by: Callable[[Mapping[str, str]], Judged]
) -> Judged:
    """The judgement with these sizes, where nothing else is unknown. With one device, which is the least that the
    script takes, only what does not fit is said, and as a warning."""
    if not judged.unknown or not any(word.unresolved for word in command.argv):
        return judged
    script.budget.once("sizes that it counts", 2 * len(script.lines), "its lines")
    cluster = judged.cluster
    if cluster is not None:
        if cluster.nodes > 1:
            return judged
        counted = _settings(judged, command, script, cluster.devices)
        return by(counted) if counted.keys() >= judged.unknown else judged
    if not is_in_lines(_ONE_DEVICE, script.lines, _LONGEST):
        return judged
    counted = _settings(judged, command, script, 1)
    if not counted.keys() >= judged.unknown:
        return judged
    alone = by(counted)
    if alone.memory is None or alone.memory.fits:
        return judged
    return replace(alone, remarks=tuple(map(_doubted, alone.remarks)))


def _doubted(remark: Remark) -> Remark:
    finding = remark.finding
    if finding.code not in OF_MEMORY or finding.severity is not Severity.ERROR:
        return remark
    return replace(
        remark, finding=replace(finding, severity=Severity.WARNING, message=f"{_AS_ASKED}{finding.message}"), stops=True
    )


def _settings(judged: Judged, command: Command, script: Script, devices: int) -> dict[str, str]:
    """Our names of the sizes, and what they are with so many devices."""
    options = option_set(command.program)
    if options is None:
        return {}
    assigned = (_ASSIGNED.match(line[:_LONGEST]) for line in script.lines)
    names = {match["name"] for match in assigned if match}
    ours = ENGINES[judged.engine].command_line.options
    found: dict[str, str] = {}
    for flag, value in _values(command):
        option, size = options.named(flag), _size(value, names, devices)
        if option is not None and size is not None:
            found |= {key: str(size) for key, name in ours.items() if name in option.names}
    return found


def _values(command: Command) -> Iterator[tuple[str, str]]:
    words = [word.text for word in command.argv]
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name.startswith("--") and equals and "$" in value:
            yield name, value
        elif word.startswith("-") and at + 1 < len(words) and words[at + 1].startswith(("$", "`")):
            yield word, words[at + 1]


def _size(value: str, names: set[str], devices: int) -> int | None:
    """What the value is with so many devices; None where it is not computed from their count, or not above zero."""
    if _COUNTED.fullmatch(value):
        return devices
    match = _ARITHMETIC.fullmatch(value)
    size = evaluate(match["inside"], lambda name: str(devices) if name in names else None) if match else None
    return size if size and size > 0 else None
