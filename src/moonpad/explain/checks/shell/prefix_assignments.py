"""A variable that is set in front of a command and used on the same line, `N=8 serve --size $N`: a shell fills in `$N`
before it sets N for the command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.set_elsewhere import may_be_set
from moonpad.explain.commands import Command, Word
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LONGEST: Final = 2000
_USE: Final = re.compile(r"\$(?:(?P<plain>[A-Za-z_]\w{0,80})|\{(?P<braced>[A-Za-z_]\w{0,80})\})", re.ASCII)
_ESCAPED: Final = re.compile(r"\\.|'[^']*'")
_MOST: Final = 3


def set_on_its_line(case: Case) -> Iterator[Remark]:
    for number, command in enumerate(case.commands):
        if command.container is not None or command.embedded or command.more:
            continue
        given = {name: word for name, word in command.env.items() if _stands_in_front(name, word, command, case)}
        told: set[str] = set()
        for at, word in enumerate(command.argv if given else ()):
            name = _name_in(word, case)
            if name in told or name not in given or len(told) == _MOST:
                continue
            told.add(name)
            if (remark := _remark(case, number, at, name)) is not None:
                yield replace(remark, command=number)


def _remark(case: Case, number: int, at: int, name: str) -> Remark | None:
    """None where the shell has the same value already."""
    command = case.commands[number]
    word, value = command.argv[at], command.env[name].text
    before = command.argv[at - 1].text if at else ""
    if "$" in value or not value:
        return None
    filled_in = name not in word.unresolved
    whole = _USE.fullmatch(_written(word, case).strip('"')) is not None
    if filled_in and (not whole or word.text == value):
        return None
    where = before if before.startswith("-") and whole else word.text.partition("=")[0]
    where = where if where.startswith("-") else name
    message = f"the shell fills in ${name} before it sets {name} for this command: "
    if filled_in:
        message += f"it is {shortened(word.text, 40)} there, and not {shortened(value, 40)}"
    elif _is_set_elsewhere(name, case):
        message += f"it is not {shortened(value, 40)} there"
    else:
        message += "it is empty there, unless it was exported before"
    sure = not filled_in and whole and before.startswith("--") and not _is_set_elsewhere(name, case)
    return make_remark(
        Severity.ERROR if sure else Severity.WARNING,
        Code.INVALID_VALUE,
        where,
        message,
        f"write {shortened(value, 40)} in its place, or set {name} on a line of its own",
        at=at,
        edits=() if filled_in else tuple(_edits(command, name, value, case)),
    )


def _edits(command: Command, name: str, value: str, case: Case) -> Iterator[Edit]:
    """In each argument in which the shell has nothing for it."""
    for at, word in enumerate(command.argv):
        if name in word.unresolved and _name_in(word, case) == name:
            yield Edit(at, 1, (_USE.sub(lambda use: value if name in use.groups() else use[0], word.text),))


def _stands_in_front(name: str, word: Word, command: Command, case: Case) -> bool:
    """Whether it is set on the command's own line, which may be continued."""
    lines, last = case.script.lines, command.prefix[0].line if command.prefix else command.line
    if not 0 < word.line <= last <= len(lines) or not lines[word.line - 1][word.column :].startswith(f"{name}="):
        return False
    if word.line == last and command.prefix and word.column > command.prefix[-1].column:
        return False
    between = lines[word.line - 1 : last - 1]
    behind = lines[word.line - 1][word.end_column :] if word.end_line == word.line else ""
    return re.match(r"[ \t]*(?:;|&|\|)", behind) is None and all(each.rstrip().endswith("\\") for each in between)


def _written(word: Word, case: Case) -> str:
    """ "" where it does not stand on one line."""
    if word.line != word.end_line or not 0 < word.line <= len(case.script.lines):
        return ""
    return case.script.lines[word.line - 1][word.column : word.end_column][:_LONGEST]


def _name_in(word: Word, case: Case) -> str:
    """The first variable that the shell fills in there."""
    match = _USE.search(_ESCAPED.sub("", _written(word, case)))
    return (match["plain"] or match["braced"]) if match is not None else ""


def _is_set_elsewhere(name: str, case: Case) -> bool:
    """Whether another line gives it a value, or may."""
    line = case.commands[0].line
    case.script.budget.once(f"values of {name}", len(case.script.lines), "its variables")
    sets = re.compile(rf"(?:^|[ \t;&(])(?:{name}=|(?:read|for|mapfile|readarray|declare|local)\b.*\b{name}\b)")
    known = [number for number, text in numbered(case.script, 1, line) if sets.search(text[:_LONGEST])]
    return len(known) > 1 or may_be_set(case, [name])
