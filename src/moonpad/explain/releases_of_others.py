"""Releases that a text names of what another person runs, or before a part that runs the main branch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.build_names import BUILD_LINES, SPOKEN_BUILDS
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.posts import author_at, begin_of_post
from moonpad.explain.documents.text_hints import version_mentions
from moonpad.explain.programs import is_server
from moonpad.explain.results import Judged, Remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

OF_MAIN: Final = "what is written above it runs main"
_NAMES: Final = "|".join(name for engine in ENGINES.values() for name in engine.command_line.names)
_BRANCH: Final = (
    r"(?:(?:main|master)[ ]branch|trunk|top of (?:tree|main)|nightly(?:[ ](?:build|image|wheel|version|release))?"
    rf"|(?:latest|current|upstream|on|from|{_NAMES})"
    r"[ ](?:main|master))(?![\w/-]|[ ](?:node|server|process|thread|model|GPU|host|machine|worker|script|page|port)\b)"
)
_RUNS: Final = re.compile(
    r"\b(?:try|tried|tested|testing|run|ran|running|reproduc\w+|use|used|using|build|built|building|installed|served)\b"
    rf"[^.\n]{{0,60}}?\b{_BRANCH}",
    re.IGNORECASE,
)
"""`I just tried to reproduce using the main branch`, `please try the latest main:`."""
_OTHERWISE: Final = re.compile(
    r"\b(?:fixed|merged|landed|mended|solved|resolved|instead of|rather than|not (?:on|from|using)|(?:not|n[’']t|never)"
    r" (?:use|used|try|tried|run|test|tested)|if (?:you|I|we))\b",
    re.IGNORECASE,
)
_MOST_ABOVE: Final = 30
_MOST_COMMANDS: Final = 400
_LONGEST: Final = 1000


def runs_main(engine: str, command: Command, script: Script) -> bool:
    """Whether a sentence above the command, behind every release that the text names, says that it is run from main."""
    if command.container is not None or len(script.commands) > _MOST_COMMANDS:
        return False
    script.budget.once("sentences about main", len(script.lines), "the text around its engine commands")
    named = [each.line for each in version_mentions(script.lines) if each.engine == engine and not each.least]
    begin = next(_said_above(command, script), 0)
    return bool(begin) and not any(begin <= line <= max(command.line, _last_of(command)) for line in named)


def with_faults_of_others(
    judged: Judged | None, by_release: Callable[[str], Judged | None], script: Script
) -> Judged | None:
    """With what is known of the release that the text names before a part that runs main: what the thread is about."""
    named = script.versions.get(judged.engine, "") if judged is not None else ""
    if judged is None or not named or not judged.version_because.startswith(OF_MAIN):
        return judged
    other = by_release(named)
    known = {remark.finding.message for remark in judged.remarks}
    faults = (each for each in (other.remarks if other is not None else ()) if each.finding.code is Code.KNOWN_REPORT)
    sure = (each for each in faults if each.finding.severity is Severity.WARNING and each.finding.message not in known)
    return replace(judged, remarks=(*judged.remarks, *map(_as_past, sure)))


def _as_past(remark: Remark) -> Remark:
    note = replace(remark.finding, severity=Severity.NOTE)
    past = replace(remark, finding=note, edits=(), others=(), sets=(), unsets=(), of_former=True, as_told=True)
    return replace(past, stops=False, ends_start=False, complained=False)


def _said_above(command: Command, script: Script) -> Iterator[int]:
    """The lines that say so, from the command up to the head of its post or the command above."""
    servers = (each for each in script.commands if each.line < command.line and is_server(each.program))
    before = max(map(_last_of, servers), default=0)
    first = max(before, begin_of_post(script.lines, command.line), command.line - _MOST_ABOVE)
    for number in range(command.line - 1, first, -1):
        line = script.lines[number - 1][:_LONGEST]
        if line.strip() == "[...]":
            return
        if (match := _RUNS.search(line)) is not None and not _OTHERWISE.search(line[: match.end()]):
            yield number


def _last_of(command: Command) -> int:
    return max((word.end_line for word in command.words), default=command.line)


def is_build_of_another(engine: str, command: Command, script: Script) -> bool:
    """Whether the build that a thread names was printed or named by others alone, of an engine that counts builds."""
    own = author_at(script.lines, command.line) if engine in BUILD_LINES else ""
    if not own:
        return False
    script.budget.once("authors of builds", len(script.lines), "the text around its engine commands")
    of = (BUILD_LINES[engine], SPOKEN_BUILDS[engine])
    numbers = [
        number
        for number, line in enumerate(script.lines, 1)
        if any(char.isdigit() for char in line[:_LONGEST]) and any(each.search(line[:_LONGEST]) for each in of)
    ]
    return bool(numbers) and all(author_at(script.lines, number) not in ("", own) for number in numbers)
