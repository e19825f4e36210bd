"""Programs that an engine no longer has, and the same said to the program that took their place."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.catalog.options import changes
from moonpad.engines.argv_reader import Occurrence, Parsed
from moonpad.engines.command_line import Removal
from moonpad.explain.commands import Command
from moonpad.explain.flags import CODES
from moonpad.explain.programs import program_named
from moonpad.explain.results import Edit, Remark
from moonpad.explain.target_detection import Version
from moonpad.values.finding import Finding


def removed_program_remarks(number: int, command: Command, version: Version, parsed: Parsed | None) -> Iterator[Remark]:
    """The finding for a program that was removed, with the command for its successor as edits."""
    program = program_named(command.program)
    if program is None or (removal := program.removal) is None:
        return
    for change in changes(removal.program, version.text or None):
        if change.flag == removal.flag and change.kind == "removed":
            code, severity = CODES[change.kind]
            remedy = " ".join((change.remedy, *_hints(removal, parsed)))
            yield Remark(
                Finding(severity, code, change.flag, change.message, remedy),
                number,
                edits=tuple(_edits(removal, parsed)),
                program=tuple(change.to[0].split()),
                word=next((word for word in command.prefix if change.flag in word.text), None),
            )


def _hints(removal: Removal, parsed: Parsed | None) -> Iterator[str]:
    given = {option.flag for option in parsed.occurrences} if parsed else set()
    return (hint for present, absent, hint in removal.hints if present in given and absent not in given)


def _edits(removal: Removal, parsed: Parsed | None) -> Iterator[Edit]:
    if parsed is None or not removal.options:
        return
    for option in parsed.occurrences:
        words = removal.options.get(option.flag or "", ())
        yield Edit(option.index, option.length, (*words, *_values(option)) if words else ())
    yield from (Edit(at, 1, ()) for at, _ in parsed.positionals)


def _values(option: Occurrence) -> tuple[str, ...]:
    value = option.value
    return (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
