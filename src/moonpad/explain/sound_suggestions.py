"""Better settings against which no rule and no known report speaks, in this release and on these devices."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from moonpad.catalog.attention import backends
from moonpad.engines.attention_backends import chosen
from moonpad.engines.base import Engine, Reading
from moonpad.engines.host_expert_names import PREFILL_FROM
from moonpad.engines.vllm_pools import OWN_CONNECTORS
from moonpad.explain.commands import Command
from moonpad.explain.mended_lines import mended_line
from moonpad.explain.results import Better, Edit, Judged, Remark
from moonpad.explain.suggestions import Changes, Improvement, Subject, improvements
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Severity
from moonpad.values.memory import Memory
from moonpad.values.records import replace

_OF_SETTINGS: Final = frozenset({Code.KNOWN_REPORT, Code.CONFLICT, Code.ILLEGAL_LAYOUT, Code.INVALID_VALUE})

_CONNECTOR: Final = re.compile(r'"kv_connector"\s*:\s*"(\w+)"')
_PHASES: Final = ("--prefill-attention-backend", "--decode-attention-backend")


def sound_improvements(
    subject: Subject,
    memory: Memory,
    flags: Mapping[str, str],
    judged_with: Callable[[Changes], Judged],
    before: Collection[str],
) -> tuple[Subject, tuple[Improvement, ...]]:
    """The improvements, and the subject that may not change what speaks against others.

    `flags` are the engine's own for our names, `judged_with` judges the same commands with an improvement in them, and
    `before` are the messages about the commands as they stand.
    """
    while True:
        found = improvements(subject, memory)
        barred = frozenset(
            name for each in found for name in _warned_of(each, flags, judged_with(each.changes), before)
        )
        if barred <= subject.barred:
            return subject, found
        subject = replace(subject, barred=subject.barred | barred)


def unlisted_formats(reading: Reading, configuration: Configuration) -> frozenset[str]:
    """An FP8 cache of latents where the documentation of the engine lists none for an attention backend in use: the one
    that is given, of a phase or of both, else the engine's own choice."""
    given = [each.value for each in reading.parsed.occurrences if not {*each.names}.isdisjoint(_PHASES)]
    own = chosen(configuration) if len(given) < len(_PHASES) else None
    names = {*(value for value in given if isinstance(value, str)), *([own.name] if own is not None else ())}
    unlisted = any(backend.fp8_unlisted for name in names if (backend := backends().get(name)) is not None)
    of_latents = configuration.checkpoint.architecture.kv_lora_rank > 0
    return frozenset({"kv_cache_dtype"}) if unlisted and of_latents else frozenset()


def barred_settings(reading: Reading, configuration: Configuration) -> frozenset[str]:
    """What is not proposed for this command whatever it holds."""
    return unlisted_formats(reading, configuration) | _foreign_connector(reading) | _uncounted(reading)


def _uncounted(reading: Reading) -> frozenset[str]:
    """How many experts lie on the devices, where prompts bring others there: how much that takes is not counted."""
    return frozenset({"gpu_experts"}) if reading.parsed.occurrence(PREFILL_FROM) is not None else frozenset()


def _foreign_connector(reading: Reading) -> frozenset[str]:
    """A cache that is shared out over ranks, where a connector of somebody's own reads it: what that makes of a part of
    a cache is not known."""
    place = reading.parsed.occurrence("--kv-transfer-config")
    text = place.value if place is not None and isinstance(place.value, str) else ""
    names = set(_CONNECTOR.findall(text))
    return frozenset({"dcp"}) if names - OWN_CONNECTORS else frozenset()


def _warned_of(
    improvement: Improvement, flags: Mapping[str, str], judged: Judged, before: Collection[str]
) -> Iterator[str]:
    """Those of its settings at which something new is said that is more than a note, and that is not met by an option
    which is added beside them (needed_beside.py)."""
    findings = [remark.finding for remark in judged.remarks if not _only_adds(remark)]
    places = {
        each.where
        for each in findings
        if each.severity is not Severity.NOTE and each.code in _OF_SETTINGS and each.message not in before
    }
    for name, _ in improvement.changes:
        if flags.get(name) in places:
            yield name


def _only_adds(remark: Remark) -> bool:
    edits = (*remark.edits, *(edit for _, others in remark.others for edit in others))
    return bool(remark.edits) and not remark.sets and not any(edit.length for edit in edits)


def edits_of(
    changes: Changes, commands: Sequence[Command], readings: Sequence[Reading], engine: Engine
) -> tuple[tuple[Edit, ...], ...]:
    """What they change in each command."""
    options, changed = engine.command_line.options, []
    for command, reading in zip(commands, readings, strict=True):
        edits = []
        for name, value in changes:
            if flag := options.get(name):
                words = (flag,) if value is None else (flag, value)
                place = reading.parsed.occurrence(flag)
                edits.append(Edit(place.index, place.length, words) if place else Edit(len(command.argv), 0, words))
        changed.append(tuple(edits))
    return tuple(changed)


def better_of(
    judged: Judged, improvement: Improvement, commands: Sequence[Command], changed: tuple[tuple[Edit, ...], ...]
) -> Better:
    """The commands with what the remarks mend, and with its edits."""
    numbered = enumerate(zip(commands, changed, strict=True))
    lines = tuple(mended_line(command, judged.remarks_on(number), edits) for number, (command, edits) in numbered)
    return Better(improvement.why, lines, improvement.memory, changed, improvement.changes)
