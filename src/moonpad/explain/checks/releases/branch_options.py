"""Options that a script adds in one of its branches (`if …; then ARGS+=(--enable-dp-attention)`): nobody says which
branch is taken, so the command is judged without them. Where one of them makes a report or a refusal hold, it is said.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from moonpad.catalog.known_reports import reports_of
from moonpad.catalog.start_refusals import start_refusals
from moonpad.catalog.toml_rows import any_of
from moonpad.engines.value_checks import unresolved
from moonpad.explain.accepted_options import but_accepted
from moonpad.explain.checks.certainty import as_certain
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import but_own
from moonpad.explain.checks.named_kind import kind_named
from moonpad.explain.checks.releases.known_reports import report_remark
from moonpad.explain.checks.releases.start_refusals import refusal_remark
from moonpad.explain.commands import Word
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.flags import flag_remarks
from moonpad.explain.manifests.option_sources import rulebook
from moonpad.explain.mended_lines import program_words
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.other_arms import other_arms
from moonpad.explain.shell.own_lines import numbered
from moonpad.explain.target_detection import Version
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_USED: Final = re.compile(r"\$\{?(?P<name>[A-Za-z_]\w*)")
_LIST: Final = re.compile(r"[ \t]+(?:local[ \t]+)?(?P<name>[A-Za-z_]\w*)\+?=\((?P<rest>.*)")
_TEXT: Final = re.compile(
    r"""[ \t]+(?:local[ \t]+)?(?P<name>[A-Za-z_]\w*)\+?=(?P<quote>["'])(?P<rest>[^"'`]*--[^"'`]*)(?P=quote)[ \t]*"""
)
_VALUE: Final = re.compile(
    r"""[ \t]+(?:local[ \t]+)?(?P<name>[A-Za-z_]\w*)=(?P<quote>["']?)(?P<rest>[\w.:/-]+)(?P=quote)[ \t]*"""
)
_OPENS: Final = re.compile(r"[ \t]*(?:local[ \t]+|export[ \t]+)?(?P<name>[A-Za-z_]\w*)\+?=[(\"']")
_PROGRAM: Final = re.compile(r"[\w./][\w./-]*")
"""In front of the options of a list: they are that program's, `WRAP=(nsys profile --trace=cuda)`."""
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][\w-]*(?:=[^\s\"')]+)?")
_LONGEST_LIST: Final = 20
_REFUSED: Final = (Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.INVALID_VALUE)
_GUARD: Final = 6
_ASKS: Final = re.compile(
    r"help|version|grep|--list|supports?|release|__version__|engine|backend|framework", re.IGNORECASE
)
_LONGEST_COMMAND: Final = 60
_ABOVE: Final = 600
"""Lines above a command in which its variables are set."""
_MOST: Final = 12
_TOLD: Final = 3


class _Added(Struct, frozen=True):
    """What one assignment adds to the command: its words, and the flags that make the difference."""

    line: int
    words: tuple[str, ...]
    flags: frozenset[str]
    text: str
    others: frozenset[int]
    """Lines of the other branches of its condition."""
    instead: frozenset[str]
    """Options that these put into the same variable."""


def branch_options(case: Case) -> Iterator[Remark]:
    """Reports and refusals that hold in one branch alone."""
    command = case.commands[0]
    if case.script.markdown and not command.line:
        return
    if len(case.commands) > 1 or is_fragment(command) or command.embedded or command.fork:
        return
    added = list(_added(case))[:_MOST]
    if not added:
        return
    text = "\n".join(case.script.lines)
    kind, seen = kind_named(case), set[str]()
    for each in added:
        meant = _with(case, each)
        refused = _refused_words(meant, each) if not _is_guarded(case, each) else ()
        for remark in (*_found(replace(meant, cluster=kind), each, text), *refused):
            finding = remark.finding
            if finding.message in seen or len(seen) >= _TOLD:
                continue
            seen.add(finding.message)
            message = f"with {each.text} of {case.script.where(each.line)}: {finding.message}"
            severity = Severity.NOTE if finding.severity is Severity.NOTE else Severity.WARNING
            alone = make_remark(severity, finding.code, finding.where, message, finding.remedy)
            yield Remark(alone.finding, command=None)


def _refused_words(case: Case, added: _Added) -> Iterator[Remark]:
    """Options and values that the engine does not take."""
    command, version = case.commands[0], Version(case.version, "")
    book = rulebook(case.engine.program, version, command)
    head = list(program_words(command)[-2:]) if case.engine.command_line.told_by_program else []
    if book is None or command.program != case.engine.program or head:
        return
    parsed = case.first.parsed
    flags = flag_remarks([word.text for word in command.argv], parsed, book, case.script.budget)
    flags = but_own(but_accepted(flags, command, case.script), command)
    for remark in as_certain(flags, command, parsed, book, version):
        option = next((each for each in parsed.occurrences if each.index == remark.at), None)
        if option is None or not {option.written, option.flag} & added.flags:
            continue
        if remark.finding.code in _REFUSED and remark.finding.severity is not Severity.NOTE:
            yield remark


def _is_guarded(case: Case, added: _Added) -> bool:
    """Whether the branch asks first what the engine takes: by its help, its release or the platform."""
    lines = numbered(case.script, added.line - _GUARD, added.line - 1)
    return any(_ASKS.search(text) or any(flag in text for flag in added.flags) for _, text in lines)


def _found(case: Case, added: _Added, text: str) -> Iterator[Remark]:
    """Rows that ask for one of the flags that are added, and for the lack of none that the text has anywhere."""
    rows = [row for row in reports_of(case.engine.name) if row.flags & added.flags]
    case.script.budget.work(200 + 6 * len(rows), "its branches")
    for row in rows:
        if not any(flag in text for flag in row.lacks) and (remark := report_remark(row, case)) is not None:
            yield remark
    for refusal in start_refusals().values():
        terms = {name.partition(".")[0] for term in refusal.given for name in any_of(term)}
        if case.engine.name not in (*refusal.engines, *refusal.forks) or not terms & added.flags or refusal.when:
            continue
        if any(term.partition(".")[0] in text for term in (*refusal.lacks, *refusal.unless)):
            continue
        if (remark := refusal_remark(refusal, case)) is not None:
            yield remark


def _with(case: Case, added: _Added) -> Case:
    """The same command with the words of the branch, and without those of its other branches."""
    command, line = case.commands[0], case.engine.command_line
    own = tuple(word for word in command.argv if word.line not in added.others and word.text not in added.instead)
    command = replace(command, argv=own) if len(own) < len(command.argv) else command
    words = [word.text for word in command.argv]
    name = re.escape(added.text.partition("=")[0].rstrip("+"))
    if len(added.words) == 1 and not added.words[0].startswith("-"):
        words = [re.sub(rf"\$\{{?{name}\}}?", added.words[0], word) for word in words]
        argv: tuple[Word, ...] = tuple(
            replace(word, text=text, unresolved=()) if text != word.text else word
            for word, text in zip(command.argv, words, strict=True)
        )
    else:
        words += added.words
        argv = (*command.argv, *(Word(text) for text in added.words))
    head = list(program_words(command)[-2:]) if line.told_by_program else []
    env = {key: word.text.removeprefix(f"{key}=") for key, word in command.env.items()}
    reading = case.engine.read([*head, *words], env, files={}, version=case.version or None)
    return replace(case, commands=(replace(command, argv=argv),), readings=(reading,), open_ended=True)


def _added(case: Case) -> Iterator[_Added]:
    """Of the variables that the lines of the command have, what is assigned to them in the branches above it; and what
    is added below to the variable that the command itself is written into."""
    command, script = case.commands[0], case.script
    first, last = _lines_of(case)
    if not first:
        return
    used = {match["name"] for _, text in numbered(script, first, last) for match in _USED.finditer(text)}
    given = {word.text.partition("=")[0] for word in command.argv}
    opening = [text for _, text in numbered(script, first - 1, first) if _OPENS.match(text)]
    own = {match["name"] for text in opening if (match := _OPENS.match(text))}
    if not (used or own):
        return
    before = dict(numbered(script, first - _ABOVE, last + _LONGEST_COMMAND))
    for number, text in before.items():
        found = _LIST.fullmatch(text) or _TEXT.fullmatch(text) or _VALUE.fullmatch(text)
        if found is None or first <= number <= last:
            continue
        if found["name"] not in (used if number < first else own) or (number > last and "+=" not in text):
            continue
        rest = found["rest"]
        if found.re is _LIST:
            rest = "\n".join([rest, *(before.get(at, "") for at in range(number + 1, number + _LONGEST_LIST))])
        words = _words(rest, is_list=found.re is _LIST)
        name = found["name"]
        if found.re is _VALUE:
            taken = _flags_of(name, [word.text for word in command.argv])
            if taken:
                yield _Added(number, tuple(words), taken, f"{name}={words[0]}", frozenset(), frozenset())
            continue
        flags = frozenset(word.partition("=")[0] for word in words if word.startswith("--")) - given
        if flags and not _PROGRAM.fullmatch(words[0]) and not any("`" in word or "$(" in word for word in words):
            others = other_arms(before, number)
            if first in others:
                continue  # the command is in another branch
            assigned = (before[at] for at in others if re.match(rf"[ \t]*{name}\+?=", before[at]))
            instead = frozenset(option for text in assigned for option in _OPTION.findall(text)) - flags
            yield _Added(number, tuple(words), flags, name, others, instead)


def _lines_of(case: Case) -> tuple[int, int]:
    """The lines that the command, or the list that it is made of, stands in; (0, 0) where they are not known."""
    command, script = case.commands[0], case.script
    head = [word.line for word in command.prefix if word.line] or [command.line]
    first = max(head)
    above = script.lines[first - 2].rstrip() if first > 1 else ""
    in_list = above.endswith("(") or "=(" in script.lines[first - 1] if 0 < first <= len(script.lines) else False
    for number, text in numbered(script, first, first + _LONGEST_COMMAND):
        closed = text.strip().startswith(")") or (number == first and text.rstrip().endswith(")"))
        ended = closed if in_list else not text.rstrip().endswith("\\")
        if ended:
            return first, number
    return 0, 0


def _flags_of(name: str, words: Sequence[str]) -> frozenset[str]:
    """Options whose whole value is the variable."""
    flags = []
    for before, word in zip(["", *words], words, strict=False):
        flag, equals, value = word.partition("=")
        if not equals:
            flag, value = before, word
        if value in (f"${name}", f"${{{name}}}") and flag.startswith("--") and unresolved(value):
            flags.append(flag)
    return frozenset(flags)


def _words(text: str, *, is_list: bool) -> list[str]:
    """As the shell parts them, up to the bracket that closes the list; none where it cannot be read."""
    reader = shlex.shlex(text, posix=True, punctuation_chars="()" if is_list else "")
    reader.whitespace_split, reader.commenters = True, "#"
    words: list[str] = []
    try:
        for word in reader:
            if is_list and word.startswith((")", "(")):
                return words if word.startswith(")") else []
            words.append(word)
    except ValueError:
        return words if is_list else []
    return [] if is_list else words
