"""Options that a release refuses and that the text shows to have been taken: by a log, or by what its author says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from moonpad.explain.builds import other_build, unnumbered_image
from moonpad.explain.checks.certainty import OF_NO_LIST
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.said_to_start import is_said_to_start
from moonpad.explain.patched_builds import of_patched
from moonpad.explain.results import Remark
from moonpad.explain.started_releases import is_past_its_options
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_OF_NAMES: Final = frozenset({Code.UNKNOWN_FLAG, Code.REMOVED_FLAG})
_OF_THE_PARSER: Final = _OF_NAMES | {Code.INVALID_VALUE}
_TAKEN: Final = "the log shows that the server read its options, and went on"
_OF_OTHERS: Final = re.compile(r"(?:ha[sv]e|take|read) it(?: otherwise)?: --engine-version|, which \S+ to \S+ have:")
"""What is said of the newest release alone (checks/certainty.py, checks/releases/config_keys.py)."""
_SOME_REFUSE: Final = re.compile(r"; \S+ to \S+ refuse it\.")
"""What the newest release takes and those before it do not (catalog/options/data/changes.toml)."""
_OF_NO_RELEASE: Final = re.compile(r"; (?:releases that are not recorded may have it|no release from \S+ on has it)\b")
"""What is said of a name that no recorded release has (checks/certainty.py)."""
_OWN_BUILD: Final = re.compile(
    r"\bgit\b[^\n]{0,80}\b(?:clone|checkout|apply|pull)\b|\bgit\+|\binstall\b[^\n]{0,80}(?:[ \t]-e[ \t]|--editable)"
    r"|\bplug-?in|\bfork(?:ed)?\b|\bpatch(?:ed|es)?\b|\bPYTHONPATH\b|/pull/\d|\bbranch\b|插件|分支",
    re.IGNORECASE,
)
"""What a text that runs no published release speaks of."""
_SHOWN_ON: Final = re.compile(r"\b(?:enabled|active|activated|in use)\b(?![ ](?:by|with|via|when|if|through|using)\b)")
_RUNS: Final = re.compile(r"\bthis (?:one |command |line )?(?:runs|works|starts|is fine)\b", re.IGNORECASE)
_ABOVE: Final = 3
_LONGEST: Final = 500
_MOST: Final = 50


def but_taken(remarks: Iterable[Remark], command: Command, script: Script) -> Iterator[Remark]:
    """What the parser would refuse as notes, where the log of the same text is of a server behind it, whatever a
    release of that number has."""
    is_past = cache(lambda: is_past_its_options(command, script))  # a command may have thousands of such words
    for remark in remarks:
        finding = remark.finding
        refused = finding.code in _OF_NAMES and finding.severity is not Severity.NOTE
        if refused and is_past():
            remark = _as_note(remark, f"{finding.message.partition('; ')[0]}; {_TAKEN}", finding.remedy)
        yield remark


def but_run(remarks: Iterable[Remark], command: Command, script: Script, *, named: bool) -> Iterator[Remark]:
    """Those that the newest release alone refuses as notes, which change nothing, where no release is `named` and by
    the text an older one runs; as of builds whose files the text changes."""
    runs = cache(lambda: is_past_its_options(command, script) or is_said_to_start(script, (command,)))
    published = cache(lambda: _is_of_a_release(command, script))
    for remark in of_patched(remarks, command, script):
        finding = remark.finding
        refuses = not named and finding.severity is Severity.WARNING and finding.code in _OF_THE_PARSER
        if refuses and _OF_OTHERS.search(finding.message) and (runs() or _is_taken(finding.where, command, script)):
            message = "the newest release refuses it so, and by the text it was taken: an older one runs there"
            remark = _as_note(remark, message, f"for later releases: {finding.remedy}")
        elif not named and finding.severity is Severity.WARNING and _SOME_REFUSE.search(finding.message) and runs():
            remark = replace(remark, finding=replace(finding, severity=Severity.NOTE))
        elif not named and _OF_NO_RELEASE.search(finding.message) and _is_shown_on(finding.where, script):
            message = f"{finding.message.partition('; ')[0]}; a line of the log has it at work, so that build has it"
            remark = _as_note(remark, message, "keep it for that build")
        elif finding.message.endswith(OF_NO_LIST) and finding.severity is Severity.WARNING and published():
            remark = replace(remark, ends_start=not runs())
        yield remark


def _is_of_a_release(command: Command, script: Script) -> bool:
    """Whether nothing speaks of another build than those that are published, whose lists of names may be longer."""
    if command.fork or other_build(command) or unnumbered_image(command):
        return False
    script.budget.once("builds of one's own", len(script.lines), "the text around its engine commands")
    name = command.program.partition(" ")[0]
    of_a_night = any("ightly" in line and name in line[:_LONGEST].casefold() for line in script.lines)
    return not (of_a_night or is_in_lines(_OWN_BUILD, script.lines, _LONGEST))


def _is_shown_on(option: str, script: Script) -> bool:
    """`Fast attention enabled on gfx950 (--enable-fast-attention).`: what the server writes of itself, and no sentence
    that tells how it is switched on."""
    script.budget.work(len(script.lines) // 2, "the text around its engine commands")
    named = f"({option})"
    lines = (line[:_LONGEST] for line in script.lines if named in line and "`" not in line)
    return any(_SHOWN_ON.search(line[: line.index(named)]) for line in lines if named in line)


def _as_note(remark: Remark, message: str, remedy: str) -> Remark:
    finding = replace(remark.finding, severity=Severity.NOTE, message=message, remedy=remedy)
    return replace(remark, finding=finding, edits=(), ends_start=False, stops=False)


def _is_taken(option: str, command: Command, script: Script) -> bool:
    """By a command with the same option that is said to run."""
    having = [each for each in script.commands[:_MOST] if each.program == command.program and _has(each, option)]
    return any(_is_said_to_run(each, script) for each in having)


def _has(command: Command, option: str) -> bool:
    return any(word.text.partition("=")[0] == option for word in command.argv)


def _is_said_to_run(command: Command, script: Script) -> bool:
    above = [line for line in script.lines[: max(0, command.line - 1)] if line.strip()][-_ABOVE:]
    return any(_RUNS.search(line[:_LONGEST]) for line in above)
