"""What a command of an engine says, read by the engine's own grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moonpad.engines.base import Engine, Reading
from moonpad.explain.commands import Command
from moonpad.explain.input_limits import OPTION_FILE, Budget, too_large
from moonpad.explain.manifests.option_sources import program_of, rulebook
from moonpad.explain.meant_options import as_written, meant_options, respelt
from moonpad.explain.mended_lines import program_words
from moonpad.explain.results import shortened
from moonpad.explain.target_detection import Version
from moonpad.explain.unknowns import set_words
from moonpad.values.records import replace


def read_command(
    command: Command,
    engine: Engine,
    version: Version,
    files: Mapping[str, str],
    settings: Mapping[str, str],
    budget: Budget,
) -> Reading:
    """With `settings`, what the person said beside the command. `files`: the texts of those that it is started with,
    by path. Options that are misspelt are read as they are meant. Raises UsageError where it is too large."""
    words = [word.text for word in command.argv]
    named = {file for word in words for file in (word, word.rpartition("/")[2]) if file in files}
    for file in named:
        if len(files[file]) > OPTION_FILE:
            size = f"{len(files[file]):,} characters; the limit is {OPTION_FILE:,}"
            raise too_large(f"the file {shortened(file)} has {size}", "pass only the options that matter")
    read_twice = sum(3 * len(files[file]) for file in named)  # as events, and as what they make
    budget.work(10 * len(words) + len(files) // 4 + read_twice, "its engine commands")
    reading = _read(command, words, engine, version, files, settings)
    budget.work(reading.effort, "its patterns of tensors")
    book = None if command.fork else rulebook(program_of(command, engine), version, command)
    if book is not None and (names := meant_options(words, reading.parsed, book, budget)):
        budget.work(10 * len(words), "its engine commands")
        meant = _read(command, respelt(words, names), engine, version, files, settings)
        reading = replace(meant, parsed=as_written(meant.parsed, words, names))
    hosts = next((len(wrapper.hosts) for wrapper in command.wrappers if wrapper.hosts), None)
    if hosts is not None and reading.node.nodes is None:
        reading = replace(reading, node=replace(reading.node, nodes=hosts))
    return reading


def _read(
    command: Command,
    arguments: Sequence[str],
    engine: Engine,
    version: Version,
    files: Mapping[str, str],
    settings: Mapping[str, str],
) -> Reading:
    env = {name: word.text.removeprefix(f"{name}=") for name, word in command.env.items()}
    # The reader looks for the program among the first words; options of Python may stand before it.
    head = list(program_words(command)[-2:]) if engine.command_line.told_by_program else []
    words = [*head, *arguments, *set_words(settings, engine.command_line)]
    reading = engine.read(words, env, files=files, version=version.text or None)
    if not head:
        return reading
    # Places count from behind the program's own words.
    before = len(head)
    options = (option for option in reading.parsed.occurrences if option.index >= before)
    occurrences = (replace(option, index=option.index - before) for option in options)
    positionals = ((at - before, text) for at, text in reading.parsed.positionals if at >= before)
    parsed = replace(reading.parsed, occurrences=tuple(occurrences), positionals=tuple(positionals))
    return replace(reading, parsed=parsed)
