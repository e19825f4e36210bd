"""What lets a context be longer than the positions of config.json."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.foreign_names import OVERRIDES
from moonpad.explain.commands import Command
from moonpad.plan.capacity_errors import needed_bytes
from moonpad.plan.judgement import Judgement
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Layout
from moonpad.values.records import replace

_STRETCHES: Final = frozenset({"--rope-scaling", *OVERRIDES, "--rope-theta"})


def is_stretched(commands: Sequence[Command]) -> bool:
    """By an option of any release and spelling: `--rope_scaling` is none of the newest."""
    given = (word.text.partition("=")[0].replace("_", "-") for command in commands for word in command.argv)
    return any(word in _STRETCHES or word.startswith("--hf-overrides.") for word in given)


def may_be_longer(commands: Sequence[Command]) -> bool:
    """By a variable, at the user's own risk."""
    return any(name in commands[0].env for name in names.LONGER_CONTEXTS)


def but_longer(findings: Iterable[Finding], commands: Sequence[Command]) -> Iterator[Finding]:
    """Without what is said of a context that is stretched; what a variable allows is a warning."""
    for finding in findings:
        of_context = finding.code is Code.INVALID_VALUE and finding.where == "max_model_len"
        if of_context and is_stretched(commands):
            continue
        yield replace(finding, severity=Severity.WARNING) if of_context and may_be_longer(commands) else finding


def but_held(judgement: Judgement, layout: Layout) -> Iterator[Finding]:
    """Without the memory that a context lacks which the model alone does not reach."""
    memory, findings = judgement.memory, judgement.findings
    held = memory is not None and memory.host_fits and needed_bytes(memory, layout) <= memory.kv_bytes.value
    too_long = any(finding.code is Code.INVALID_VALUE and finding.where == "max_model_len" for finding in findings)
    for finding in findings:
        of_memory = finding.code is Code.DOES_NOT_FIT and finding.where == "max_model_len"
        if not (held and too_long and of_memory):
            yield finding
