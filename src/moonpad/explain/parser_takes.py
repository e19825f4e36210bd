"""Whether the parser of the release that is judged takes a command as it would be typed. Nothing else is printed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Engine, Reading
from moonpad.engines.value_checks import fits, unresolved
from moonpad.explain.builds import other_build
from moonpad.explain.checks.dynamo.dynamo_workers import by_module
from moonpad.explain.commands import Command
from moonpad.explain.flags import change_of
from moonpad.explain.former_flags import removed_later
from moonpad.explain.manifests.option_sources import Rulebook, program_of, rulebook
from moonpad.explain.programs import program_named
from moonpad.explain.target_detection import Version
from moonpad.explain.value_forms import STANDS_IN

_REFUSES: Final = frozenset({"removed", "ambiguous", "invalid-value", "no-option"})
"""Changes of an option after which it is not taken; one that is renamed is taken under its old name too."""


def is_refused(commands: Iterable[Command], readings: Iterable[Reading], engine: Engine, version: Version) -> bool:
    """Whether it surely is, or may be: an option, a value, a word or a missing model that this release, or the nearest
    one that is recorded, does not take. What stands in for a value takes that of the reader."""
    return any(
        _is_refused(command, reading, engine, version) for command, reading in zip(commands, readings, strict=True)
    )


def _is_refused(command: Command, reading: Reading, engine: Engine, version: Version) -> bool:
    book = rulebook(program_of(command, engine), version, command)
    if book is None or command.fork or other_build(command):
        return False  # whose options are not recorded
    if not reading.model and _must_name_a_model(command, reading, engine):
        return True
    if any(_stands_for_itself(command, at, text) for at, text in reading.parsed.positionals if text in reading.unknown):
        return True
    return any(_is_problem(option, command, book) for option in reading.parsed.occurrences)


def _must_name_a_model(command: Command, reading: Reading, engine: Engine) -> bool:
    """Whether nothing there may name the model in its place, a file or words of the shell."""
    program = program_named(command.program)
    elsewhere = any(reading.parsed.occurrence(flag) for flag in engine.command_line.option_files)
    several = any(not word.text.startswith("-") and word.unresolved for word in command.argv)
    unnamed = program is not None and program.unnamed_weights
    return not (elsewhere or several or unnamed)


def _stands_for_itself(command: Command, at: int, text: str) -> bool:
    replaced = at < len(command.argv) and command.argv[at].unresolved
    return bool(text.strip()) and not replaced and not unresolved(text)


def _is_problem(option: Occurrence, command: Command, book: Rulebook) -> bool:
    change = None if option.problem == "unknown" and option.matches else change_of(option, book.now)
    if change is not None:
        return change.kind in _REFUSES
    if option.problem in (None, "prefix") or (not book.options.exact and removed_later(option, book)):
        return False
    if option.written.lstrip("-").replace("-", "_") in command.accepted or _is_of_starter(option, command):
        return False
    values = option.value if isinstance(option.value, tuple) else (option.value,)
    texts = [value for value in values if isinstance(value, str)]
    if option.problem == "invalid-value" and all(map(STANDS_IN.fullmatch, texts)):
        return False
    later = book.following.named(option.written) if book.following is not None else None
    return later is None or not all(fits(later.kind, later.choices, text) for text in texts)


def _is_of_starter(option: Occurrence, command: Command) -> bool:
    """Whether the program that starts the engine takes the option for itself."""
    program = program_named(command.program)
    return program is not None and by_module(command) and program.is_of_starter(option.written)
