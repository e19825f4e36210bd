"""Options that a command takes out of a file: `--config FILE` of vLLM and SGLang. What is on the line goes before them.

TensorRT-LLM's file is read by its engine, since its keys are not options of the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.argv_reader import parse
from moonpad.engines.foreign_names import FILE_OF_FLAGS
from moonpad.engines.option_grammar import Grammar
from moonpad.explain.commands import Command, HereFile
from moonpad.explain.grouping import value_of
from moonpad.explain.input_limits import OPTION_FILE, Budget
from moonpad.explain.programs import program_named
from moonpad.values.records import replace

UNNAMED: Final = "<options>"
"""The text of a file of options that a guide shows without its name."""
SEVERAL: Final = "<options again>"


def with_file_options(command: Command, files: Mapping[str, HereFile], budget: Budget) -> Command:
    """The command with the options of its file in front of its own, where the file is at hand."""
    named = value_of(command.argv, ("--config",)) if command.program in FILE_OF_FLAGS else None
    file = files_of(command, files).get(named.text) if named is not None else None
    options = option_set(command.program)
    if named is None or file is None or options is None or len(file.text) > OPTION_FILE:
        return command
    from yaml import MarkedYAMLError  # it takes its time to load

    from moonpad.explain.manifests.option_maps import option_words
    from moonpad.explain.manifests.yaml_source import YamlSource
    from moonpad.explain.source_text import InputText

    source = YamlSource(InputText(file.text, budget), 0, file.text)
    try:
        documents = source.documents()
    except MarkedYAMLError:
        return command
    fields = source.fields(documents[0]) if documents else {}
    fields = {name: fields[name] for name in sorted(fields, key=lambda name: name != "model")}
    words = [replace(named, text=word.text, pieces=()) for word in option_words(fields, source, command.program)]
    grammar = Grammar(options)
    given = {option.flag for option in parse([word.text for word in command.argv], grammar).occurrences}
    positional = bool(command.argv) and not command.argv[0].text.startswith("-")
    own = parse([word.text for word in words], grammar).occurrences
    kept = [
        word
        for option in own
        if option.flag not in given and not (positional and option.flag == "--model")
        for word in words[option.index : option.index + option.length]
    ]
    head = command.argv[:1] if positional else ()
    if not positional and _takes_model_first(command) and [word.text for word in kept[:1]] == ["--model"]:
        head, kept = (kept[1],), kept[2:]
        return replace(command, argv=(*head, *kept, *command.argv))
    return replace(command, argv=(*head, *kept, *command.argv[len(head) :]))


def _takes_model_first(command: Command) -> bool:
    program = program_named(command.program)
    return program is not None and [word.text for word in command.prefix[-1:]] == [program.positional_model]


def files_of(command: Command, files: Mapping[str, HereFile]) -> dict[str, HereFile]:
    """`files`, those mounted into the command's own container before the others; and each that a word names by another
    path, where only one file has its name."""
    held = {**files, **command.files}
    unnamed = held.get(UNNAMED) if SEVERAL not in held else None
    by_name: dict[str, list[str]] = {}
    for path in held:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    for word in command.argv:
        path = word.text.rpartition("=")[2]
        same = by_name.get(path.rpartition("/")[2], ())
        if path not in held and len(same) == 1:
            held[path] = held[same[0]]
        elif path not in held and unnamed is not None and path.endswith((".yml", ".yaml")):
            held[path] = replace(unnamed, path=path)
    return held
