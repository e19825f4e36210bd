"""Programs that an engine has no more, with the command for what took their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import changes
from moonpad.engines.argv_reader import Occurrence, Parsed
from moonpad.explain.commands import Command
from moonpad.explain.programs import program_named
from moonpad.explain.results import Edit, Remark
from moonpad.explain.target_detection import Version
from moonpad.values.finding import Code, Finding, Severity

_TO_FILL_IN: Final = re.compile(r"<[^<>]{1,80}>|/?path/to/[\w./-]{0,200}")


def _is_of_gguf(option: Occurrence, parsed: Parsed) -> bool:
    """Whether the folder of the GGUF files is given as that of the original weights too."""
    gguf = parsed.occurrence("--gguf_path")
    folders = [str(each.value).rstrip("/") for each in (option, gguf) if each is not None]
    return option is not gguf and len(folders) == 2 and len({*folders}) == 1


def has_a_successor(command: Command, version: str) -> bool:
    """Whether a finding replaces the program by another one, in that release ("" is the newest)."""
    program = program_named(command.program)
    if program is None or (removal := program.removal) is None or command.fork:
        return False
    told = changes(removal.program, version or None)
    return any(change.flag == removal.flag and change.kind == "removed" for change in told)


def removed_program_remarks(command: Command, version: Version, parsed: Parsed) -> Iterator[Remark]:
    """The finding for a program that was removed, with the command for its successor as edits."""
    program = program_named(command.program)
    if program is None or (removal := program.removal) is None or command.fork:
        return
    given = {option.flag for option in parsed.occurrences}
    hints = [hint for present, absent, hint in removal.hints if present in given and absent not in given]
    values = {option.flag: option.value for option in parsed.occurrences if isinstance(option.value, str)}
    hints += [hint for flag, value, hint in removal.chosen if re.fullmatch(value, values.get(flag, ""), re.IGNORECASE)]
    edits = []
    if removal.options:
        for option in parsed.occurrences:
            words = removal.options.get(option.flag or "", ())
            if words and isinstance(option.value, (str, tuple)):
                words += (option.value,) if isinstance(option.value, str) else option.value
                stands_in = removal.stand_ins.get(option.flag or "")
                if stands_in and (_TO_FILL_IN.fullmatch(words[-1]) or _is_of_gguf(option, parsed)):
                    words = (*words[:-1], stands_in)
            edits.append(Edit(option.index, option.length, words))
        edits += (Edit(at, 1, ()) for at, _ in parsed.positionals)
    written = {*given, *(word.text.partition("=")[0] for word in command.argv), ""}
    lacking = [words for present, absent, words in removal.adds if present in written and absent not in written]
    edits += (Edit(len(command.argv), 0, words) for words in lacking)
    for change in changes(removal.program, version.text or None):
        if change.flag == removal.flag and change.kind == "removed":
            severity = Severity.ERROR if version.text else Severity.WARNING  # an older copy still has it
            yield Remark(
                Finding(severity, Code.REMOVED_FLAG, change.flag, change.message, " ".join((change.remedy, *hints))),
                edits=tuple(edits),
                program=tuple(change.to[0].split()),
                word=next((word for word in command.prefix if change.flag in word.text), None),
            )
