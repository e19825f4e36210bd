"""Lines of a log about an attention backend, held against the one that the command chooses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from moonpad.engines.foreign_names import ATTENTION_BY_VARIABLE, ATTENTION_SUFFIX
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.pasted_failures import STOPPED
from moonpad.explain.results import Remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_OPTION: Final = "--attention-backend"
_TOLD: Final = re.compile(
    rf"{re.escape(STOPPED)}(?:the attention backend (?P<name>\w+) does not serve this"
    r"|(?P<old>XFormers)Impl without attention sinks)"
)
_LONGEST: Final = 300


def by_backend(
    failures: Iterable[Remark], found: Sequence[Remark], commands: Sequence[Command], script: Script
) -> Iterator[Remark]:
    """The failures without what a log says of another backend that the text chooses elsewhere; what an error says of
    the backend that the command chooses is the cause of the log's line, and its remedy mends that too."""
    for failure in failures:
        logged = _TOLD.match(failure.finding.message)
        chosen = _chosen(commands[0]) if logged else ""
        if logged is None or not chosen:
            yield failure
            continue
        backend = _plain(logged["name"] or logged["old"])
        if backend == chosen:
            yield _with_cause(failure, found)
        elif not _is_chosen_elsewhere(backend, script):
            yield failure


def _chosen(command: Command) -> str:
    for at, word in enumerate(command.argv):
        name, joined, value = word.text.replace("_", "-").partition("=")
        if name == _OPTION:
            following = command.argv[at + 1].text if at + 1 < len(command.argv) else ""
            return _plain(value.replace("-", "_") if joined else following)
    variable = command.env.get(ATTENTION_BY_VARIABLE)
    return _plain(variable.text) if variable is not None else ""


def _plain(name: str) -> str:
    return name.strip().upper().removesuffix(ATTENTION_SUFFIX)


def _with_cause(failure: Remark, found: Sequence[Remark]) -> Remark:
    for remark in found:
        finding = remark.finding
        of_backend = finding.where in (ATTENTION_BY_VARIABLE, _OPTION) and finding.code is not Code.LOGGED_FAILURE
        if of_backend and finding.severity is Severity.ERROR and finding.remedy:
            same = replace(failure.finding, message=f"{STOPPED}{finding.message}", remedy=finding.remedy)
            return replace(failure, finding=same, read_as_meant=remark.changes)
    return failure


def _is_chosen_elsewhere(backend: str, script: Script) -> bool:
    name = rf"{re.escape(backend)}(?:{ATTENTION_SUFFIX})?(?!\w)"
    chosen = re.compile(
        rf"(?:{ATTENTION_BY_VARIABLE}|{_OPTION})[\"']?(?:[ \t]*[:=][ \t]*|[ \t]+)[\"']?{name}", re.IGNORECASE
    )
    script.budget.work(len(script.lines) // 4, "its attention backends")
    return any("BACKEND" in line[:_LONGEST].upper() and chosen.search(line[:_LONGEST]) for line in script.lines)
