"""Which recorded options and changes a command is judged by."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.catalog.options import Change, OptionSet, changes, newest, option_set, versions
from moonpad.engines import ENGINES
from moonpad.engines.base import Reading
from moonpad.explain.command_lines import program_words
from moonpad.explain.commands import Command, HereFile, Script, Word
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.flags import CODES, Rulebook
from moonpad.explain.programs import program_named, program_table
from moonpad.explain.results import Remark
from moonpad.explain.target_detection import Version
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.finding import Finding, Severity
from moonpad.values.versions import since


def program_of(command: Command, engine: str) -> str:
    """The program whose options are recorded for this command: its own, or that of the build which it starts."""
    own = program_table().engines.get(command.program) == engine
    return command.program if own else ENGINES[engine].program


def rulebook(
    program: str, version: Version, checkpoint: Checkpoint | None = None, command: Command | None = None
) -> Rulebook | None:
    """The options and changes of that version; None where nothing of the program is recorded.

    What is redundant for an FP8 checkpoint is not so for another one.
    """
    options = option_set(program, version.text or None)
    if options is None:
        return None
    of = version.text or newest(program)
    scheme = checkpoint.quantization.scheme if checkpoint is not None else "fp8"
    every = [change for change in changes(program) if not _speaks_of_fp8(change) or scheme == "fp8"]
    started = program_named(command.program) if command is not None and not is_fragment(command) else None
    if command and started and started.positional_model not in ("", *program_words(command)[-1:]):
        every = [change for change in every if change.flag != "--model"]
    now = tuple(change for change in every if change.holds_in(of))
    later = tuple(change for change in every if change not in now and _is_later(change, of))
    named = program_named(program)
    label = named.label if named and named.label else program
    return Rulebook(
        program,
        f"{label} {options.version}",
        options,
        now,
        later,
        None if options.exact else following(program, options.version),
    )


def following(program: str, version: str) -> OptionSet | None:
    """The options of the first recorded version behind this one."""
    known = versions(program)
    later = known[known.index(version) + 1 :] if version in known else ()
    return option_set(program, later[0]) if later else None


def file_remarks(number: int, reading: Reading, script: Script, program: str, version: Version) -> Iterator[Remark]:
    """Keys of the YAML files that the command names, as the script writes them. Such a change is called `table.key`."""
    values = [option.value for option in reading.parsed.occurrences if option.value] if reading.parsed else []
    for path, file in script.files.items():
        if path not in values:
            continue
        for change in changes(program):
            place = _key(file, change.flag)
            if place is None or change.kind not in CODES:
                continue
            now = change.holds_in(version.text or newest(program))
            if not now and not _is_later(change, version.text or newest(program)):
                continue
            code, severity = CODES[change.kind]
            # Unlike an option under its former name, a key that is not known is refused.
            severity = Severity.NOTE if not now else Severity.ERROR if change.kind == "renamed" else severity
            message = change.message if now else f"right in {version.text}; from {change.since} on: {change.message}"
            where = f"{path.rpartition('/')[2]}: {change.flag}"
            yield Remark(Finding(severity, code, where, message, change.remedy), number, word=place)


def _key(file: HereFile, flag: str) -> Word | None:
    """Where the key of a table stands in a file."""
    table, dot, key = flag.partition(".")
    if not dot:
        return None
    inside = False
    for number, line in enumerate(file.text.split("\n"), file.line):
        if line[:1].strip():
            inside = line.startswith(f"{table}:")
        elif inside and line.strip().startswith(f"{key}:"):
            column = len(line) - len(line.lstrip())
            return Word(key, number, column, number, column + len(key))
    return None


def _speaks_of_fp8(change: Change) -> bool:
    return change.flag == "--quantization" and change.value == "fp8"


def _is_later(change: Change, version: str) -> bool:
    return not since(version, change.since)
