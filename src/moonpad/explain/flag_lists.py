"""Flags without a program, as documents list them: which engine's they are, and on how many devices."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import Parsed, parse
from moonpad.engines.command_line import CommandLine
from moonpad.engines.option_grammar import Grammar
from moonpad.explain.commands import Command, Script, Word
from moonpad.explain.programs import is_server, program_table
from moonpad.values.records import replace

LAYOUT: Final = ("tp", "pp", "dp", "ep", "dcp")
"""Our names of the parallel sizes."""
MODEL_FLAGS: Final = ("--model", "--model-path")
_OF_CLIENTS: Final = frozenset({
    *("--model_args", "--num_fewshot", "--base-url", "--base_url", "--api-base", "--save-result", "--num-prompts"),
    *("--apiUrl", "--api-url", "--api_url"),
})  # fmt: skip
"""Options of programs that ask a server, and of no server."""
SIZES: Final = ("tp", "pp", "dp")
"""Of these, those that make ranks: with none of them a command has one."""


def as_commands(commands: Sequence[Command], lines: Sequence[str] = ()) -> Iterator[Command]:
    """Fragments become commands of the program that knows most of their flags; the others stay as they are.

    A list of flags that says nothing of the layout has that of the list or command of the same program above it: a
    guide tells what it changes. Below a comment in the `lines` on a file that is to be edited, it has all that it does
    not change.
    """
    layouts: dict[str, tuple[Word, ...]] = {}
    before: dict[str, Command] = {}
    for command in commands:
        whole = with_program(command) if command.program == "fragment" else command
        if whole.program in serving_programs():
            own = _layout_words(whole)
            edits = whole is not command and whole.program in before and is_edit(command, lines)
            if edits:
                whole = replace(whole, argv=(*whole.argv, *_unchanged(before[whole.program], whole)))
            else:
                before[whole.program] = whole
            if own:
                layouts[whole.program] = own
            elif whole is not command and not (edits and _layout_words(whole)):
                whole = replace(whole, argv=(*whole.argv, *layouts.get(whole.program, ())))
        yield whole


def is_edit(command: Command, lines: Sequence[str]) -> bool:
    """Whether the line above its options says in which file they are changed: `# Edit launch.sh`."""
    above = lines[command.line - 2] if 1 < command.line <= len(lines) else ""
    return _EDITED.match(above[:_LONGEST]) is not None


def _unchanged(before: Command, changed: Command) -> Iterator[Word]:
    """The options of a command that another one does not give again."""
    options = option_set(before.program)
    if options is None:
        return
    given = {each.flag for each in parse([word.text for word in changed.argv], Grammar(options)).occurrences}
    for place in parse([word.text for word in before.argv], Grammar(options)).occurrences:
        if place.flag not in given:
            yield from before.argv[place.index : place.index + place.length]


ELLIPSES: Final = frozenset({"...", "…", "[...]"})
"""What an author writes for words that he leaves out."""
_FEWEST: Final = 3
_PAIR: Final = re.compile(r"[a-z]\w*=[^=]|\{\"")
_EDITED: Final = re.compile(
    r"[ \t]*#+[ ]*(?:edit|change|modify|adjust|update|in|修改|编辑)(?![a-z])[ ]{0,2}[^\n]{0,40}?"
    r"[\w./-]+\.(?:sh|service|ya?ml|env|conf|py|toml)\b[ ]?[:：]?(?![\w/])",
    re.IGNORECASE,
)
_LONGEST: Final = 200


def is_fragment(command: Command) -> bool:
    """Whether it was written without a program."""
    return command.guessed or (not command.prefix and not command.wrappers)


def is_with_its_variables(command: Command, script: Script) -> bool:
    """Whether its options stand without a program in a file that gives their variables beside them: the cases of a
    test, and not the list of a guide."""
    return is_fragment(command) and is_server(command.program) and not (script.markdown or command.more)


def has_own_options(command: Command) -> bool:
    """Whether a program that starts the engine is given options of its own, `--infera-kvd-socket`: it may set others
    by itself."""
    modules = [word.text.partition(".")[0] for word in command.prefix if "." in word.text and "/" not in word.text]
    return any(word.text.startswith(f"--{module}-") for module in modules for word in command.argv)


def is_piece(command: Command) -> bool:
    """Whether it is a few flags that a sentence takes out of a command: `But I have --x 1 --y 2 already`."""
    return is_fragment(command) and sum(word.text.startswith("-") for word in command.argv) < _FEWEST


def borrowed(command: Command) -> tuple[Word, ...]:
    """The words that `as_commands` took from above; a model in front is named by a key above."""
    if not is_fragment(command):
        return ()
    own = command.argv[2:] if command.argv[:1] and command.argv[0].text in MODEL_FLAGS else command.argv
    return tuple(word for word in own if word.line < command.line)


def with_program(command: Command, of: Collection[str] = ()) -> Command:
    """A list of flags as a command of the program that knows most of them, else as it is. `of`: the programs that may
    be meant; empty: all."""
    flags = [word.text.partition("=")[0] for word in command.argv if word.text.startswith("--")]
    if _OF_CLIENTS & set(flags) or _asks_several_models(command):
        return command

    def matching(program: str) -> tuple[int, int]:
        """How many it has, and how many of the others are beginnings of its own."""
        options = option_set(program)
        if options is None:
            return 0, 0
        dashed = options.underscores
        names = [flag.replace("_", "-") if dashed and options.named(flag) is None else flag for flag in flags]
        others = [name for name in names if options.named(name) is None] if options.prefixes else []
        begun = sum(any(longer.startswith(name) for longer in options.by_name) for name in others)
        return len(names) - len([name for name in names if options.named(name) is None]), begun

    best = max((each for each in serving_programs() if not of or each in of), key=matching)
    known, begun = matching(best)
    # One known flag of two, or two of seven, may be a proxy's or a client's, which has an option of that name too.
    most = 3 * (known + begun) >= len(flags) if known > 1 else 2 * (known + begun) > len(flags)
    listed = known > 2 or bool(known and (most or set(MODEL_FLAGS) & set(flags)))
    # `--model m --epochs 3 --lora-rank 8`: where the engine has few of the options, the list is for another program.
    listed &= bool(of) or len(flags) - known - begun < max(_FEWEST, known + begun)
    others = known < _FEWEST and _has_pairs_for_words(command, best)
    return replace(command, program=best) if listed and not others and not _names_only(command, best) else command


def _has_pairs_for_words(command: Command, program: str) -> bool:
    """Whether a number or a word of a list is given as `kind=static,value=42`: the option is another program's, which
    has one of that name too."""
    options = option_set(program)
    parsed = parse([word.text for word in command.argv], Grammar(options)) if options is not None else Parsed()
    return any(
        each.problem == "invalid-value" and isinstance(each.value, str) and _PAIR.match(each.value)
        for each in parsed.occurrences
        if options is not None and each.flag and (option := options.named(each.flag)) and option.kind != "json"
    )


def _asks_several_models(command: Command) -> bool:
    """Whether it names one model after the other, as what compares them does: a server has one, though perhaps by its
    repository and by its file."""
    named = {behind.text for word, behind in pairwise(command.argv) if word.text in MODEL_FLAGS}
    named = {name for name in named if not name.endswith(".gguf")}
    return len(named) > 1 and not any(word.text in ELLIPSES for word in command.argv)


def _names_only(command: Command, program: str) -> bool:
    """Whether it lists what options there are, as a form does that asks for their values: none has one, and several
    take one."""
    texts = [word.text for word in command.argv if not word.text.startswith("<what ")]
    if not all(text.startswith("-") and "=" not in text for text in texts):
        return False
    options = option_set(program)
    parsed = parse(texts, Grammar(options)) if options is not None else None
    return parsed is not None and sum(each.problem == "missing-value" for each in parsed.occurrences) > 1


def knows_most(command: Command, flags: Collection[str]) -> bool:
    """Whether its program has more than half of the flags."""
    options = option_set(command.program)
    return options is not None and 2 * sum(options.named(flag) is not None for flag in flags) > len(flags)


def _layout_words(command: Command) -> tuple[Word, ...]:
    options = option_set(command.program)
    if options is None:
        return ()
    spelled = serving_programs()[command.program].options
    flags = {spelled[name] for name in LAYOUT if name in spelled}
    parsed = parse([word.text for word in command.argv], Grammar(options))
    places = (option for option in parsed.occurrences if flags & set(option.names))
    return tuple(word for place in places for word in command.argv[place.index : place.index + place.length])


def serving_programs() -> Mapping[str, CommandLine]:
    """The program that each engine serves with, where it has one of its own."""
    return _serving_programs(tuple(ENGINES))


@lru_cache(maxsize=4)
def _serving_programs(_: tuple[str, ...]) -> Mapping[str, CommandLine]:
    owners = program_table().engines
    return {
        engine.program: engine.command_line
        for engine in ENGINES.values()
        if owners.get(engine.program) == engine.name and program_table().programs[engine.program].commands
    }
