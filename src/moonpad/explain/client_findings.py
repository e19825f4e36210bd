"""Judges commands that serve no model: a benchmark, a router, a container in which no known program is started."""

from __future__ import annotations

from moonpad.catalog.options import newest, option_set
from moonpad.engines.argv_reader import parse
from moonpad.engines.option_grammar import Grammar
from moonpad.explain.command_lines import mended_line
from moonpad.explain.commands import Script
from moonpad.explain.flags import env_remarks, flag_remarks
from moonpad.explain.grouping import Group
from moonpad.explain.option_sources import rulebook
from moonpad.explain.programs import program_named, program_table
from moonpad.explain.removed_programs import removed_program_remarks
from moonpad.explain.results import Judged, Remark
from moonpad.explain.security import wrapper_remarks
from moonpad.explain.target_detection import Question, Version, version_of


def judged_client(group: Group, script: Script, question: Question, before: tuple[Remark, ...]) -> Judged | None:
    """All commands of the group are of one program. None where nothing is known of it and nothing was found.

    Raises:
        UsageError: the version that was asked for is not a version.
    """
    remarks = list(before)
    name = group.commands[0].program
    program, engine, version = program_named(name), "", Version("", "")
    if program is not None and (program.removal is not None or option_set(name) is not None):
        engine = program_table().engines[name]
        own = Version("", "the newest known")
        version = own if program.own_versions else version_of(engine, script, question)
    for number, command in enumerate(group.commands):
        remarks += wrapper_remarks(number, command)
        if not engine:
            continue
        remarks += removed_program_remarks(number, command, version, None)
        if (book := rulebook(name, version)) is not None:
            words = [word.text for word in command.argv]
            remarks += flag_remarks(number, words, parse(words, Grammar(book.options)), book)
            remarks += env_remarks(number, tuple(command.env), book)
    if not engine and not remarks:
        return None
    recorded = program.removal.program if program and program.removal else name
    return Judged(
        engine=engine or name,
        version=version.text or (newest(recorded) if engine else ""),
        version_because=version.because,
        sources=group.commands,
        commands=(),
        remarks=tuple(remarks),
        corrected=tuple(
            mended_line(command, [remark for remark in remarks if remark.command == number])
            for number, command in enumerate(group.commands)
        ),
        kind=group.kind,
    )
