"""Files of presets as a router of models reads them: `[name]` and below it `option = value` without dashes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from moonpad.catalog.options import OptionSet, option_set
from moonpad.catalog.preset_files import PresetFile, preset_files
from moonpad.explain.commands import Command, Word
from moonpad.explain.shell.interpreter import ScriptState

ALL: Final = "*"
"""The section whose options each other one has too."""
_HEAD: Final = re.compile(r"[ \t]{0,4}\[[ \t]*(?P<name>[^\]\[]{1,200}?)[ \t]*\][ \t]*(?:[;#].*)?")
_ENTRY: Final = re.compile(r"[ \t]{0,4}(?P<key>[A-Za-z_][\w.-]{0,80})[ \t]*=[ \t]*(?P<value>.{0,1000}?)[ \t]*")
_BETWEEN: Final = re.compile(r"[ \t]*(?:[;#].*)?")
_PRESET: Final = re.compile(
    r"^[ \t]{0,4}\[[^\]\[\n]{1,200}\][ \t]*(?:[;#].*)?\n(?:[ \t]*(?:[;#].*)?\n){0,20}"
    r"[ \t]{0,4}[A-Za-z_][\w.-]{0,80}[ \t]*=",
    re.MULTILINE,
)
_FILES: Final = re.compile("gguf", re.IGNORECASE)
_ON: Final = frozenset({"true", "1", "on", "enabled"})
_UNITS: Final = frozenset({"unit", "service", "install", "container", "build-system", "project"})
_MOST: Final = 200
_MOST_PRESETS: Final = 20


class Section(Struct, frozen=True):
    name: str
    line: int
    entries: tuple[tuple[int, str, str], ...]
    """Line, key and value of each."""


def sections(lines: Sequence[str], options: OptionSet) -> Iterator[Section]:
    """Those of which most keys are options."""
    name, begun, entries = "", 0, list[tuple[int, str, str]]()
    for number, line in enumerate((*lines, "[end]"), 1):
        head = _HEAD.fullmatch(line[:_MOST])
        entry = _ENTRY.fullmatch(line) if name and head is None else None
        if entry is not None and len(entries) < _MOST:
            entries.append((number, entry["key"], _without_comment(entry["value"])))
        elif head is not None or not _BETWEEN.fullmatch(line):
            known = sum(1 for _, key, _ in entries if is_option(options, key))
            if name and entries and known * 2 >= len(entries) and name.lower() not in _UNITS:
                yield Section(name, begun, tuple(entries))
            name, begun, entries = (head["name"], number, []) if head is not None else ("", 0, [])


def _without_comment(value: str) -> str:
    return re.split(r"(?:^|[ \t])[;#]", value, maxsplit=1)[0].rstrip()


def is_option(options: OptionSet, key: str) -> bool:
    return bool(_spelled(options, key))


def _spelled(options: OptionSet, key: str) -> str:
    return next((name for name in (f"--{key}", f"-{key}") if options.named(name) is not None), "")


def source_keys(row: PresetFile, options: OptionSet) -> frozenset[str]:
    """Keys that say where the weights are."""
    named = [(flag, options.named(flag)) for flag in row.sources]
    return frozenset(name.lstrip("-") for flag, option in named for name in (option.names if option else (flag,)))


def read_presets(state: ScriptState) -> None:
    """Adds a command for each preset that says where its model is: the one that the router starts for it."""
    if _PRESET.search(state.text.clean) is None:
        return
    lines = state.text.lines
    for row in preset_files().values():
        routers = [each for each in state.commands if each.program == row.program and _names_file(each, row)]
        if not routers and any(each.program not in ("other", "docker") for each in state.commands):
            continue
        options = option_set(row.program)
        if options is None:
            continue
        state.budget.work(len(lines), "the lines of its presets")
        found = list(sections(lines, options))
        sources = source_keys(row, options)
        shared = [entry for section in found if section.name == ALL for entry in section.entries]
        for section in [each for each in found if each.name != ALL][:_MOST_PRESETS]:
            own = {key: value for _, key, value in section.entries}
            weights = [own[key] for key in sources if key in own]
            if weights and (routers or any(map(_FILES.search, weights))):
                entries = [*(entry for entry in shared if entry[1] not in own), *section.entries]
                state.add(_command(row, options, section, entries, lines))


def _names_file(command: Command, row: PresetFile) -> bool:
    return any(word.text.partition("=")[0] == row.option for word in command.argv)


def _command(
    row: PresetFile,
    options: OptionSet,
    section: Section,
    entries: Sequence[tuple[int, str, str]],
    lines: Sequence[str],
) -> Command:
    argv: list[Word] = []
    for line, key, value in entries:
        name, option = _spelled(options, key), options.named(_spelled(options, key))
        if option is None or not value:
            continue
        written = lines[line - 1]
        start = written.index(key)
        at = start + len(key) + written[start + len(key) :].find(value)
        if option.kind == "flag":
            argv += [Word(name, line, start, line, start + len(key))] if value.lower() in _ON else []
        else:
            argv += [Word(name, line, start, line, start + len(key)), Word(value, line, at, line, at + len(value))]
    head = Word(row.program, section.line, 0, section.line, len(lines[section.line - 1]))
    return Command(row.program, tuple(argv), (head,), label=section.name, line=section.line)
