"""A preset in the variables of a shell: `export TP_SIZE="${TP_SIZE:-16}"` and more such lines, of which a program that
is not in the text makes the options of an engine."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final

from moonpad.engines.foreign_names import MENTION, PROGRAM_OF
from moonpad.explain.commands import Command, Word
from moonpad.explain.flag_lists import SIZES, serving_programs
from moonpad.explain.option_names import as_option
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.word_lists import fragment, more
from moonpad.values.records import replace

_SET: Final = re.compile(
    r"^[ \t]*(?:export[ \t]+|:[ \t]+\"?\$\{)?(?P<name>[A-Z][A-Z0-9_]{1,60}):?="
    r"(?P<quote>[\"']?)(?P<value>[^\"'\n#]{1,200}?)(?P=quote)\}?\"?[ \t]*(?:#.*)?$(?<!\\)",
    re.MULTILINE,
)
"""`export NAME=value`, `NAME="${NAME:-value}"`, `: "${NAME:=value}"`."""
_DEFAULT: Final = re.compile(r"\$\{(?P<name>\w+):?[-=](?P<value>[^${}]*)\}")
_HANDED_ON: Final = re.compile(
    r"^[ \t]*(?:set[ \t]+-(?:a|o[ \t]+allexport)\b|export[ \t]+[A-Z]|exec[ \t]|(?:source|\.)[ \t]+\S)", re.MULTILINE
)
"""What is not exported where it is set reaches another program so."""
_TRAINS: Final = re.compile(
    r"\b(?:torchrun|deepspeed|accelerate|megatron|verl|train|finetune|sft|grpo|ppo)\b", re.IGNORECASE
)
"""Programs of training have options of the same names."""
_OF_LAUNCHER: Final = "<the line of the launcher that uses these variables>"
_FEWEST: Final = 5
"""So many of them are options of one engine."""
_FEW: Final = 3
"""So many are enough where they are a model and its layout."""
_MOST: Final = 200


def exported_options(
    state: ScriptState, texts: Sequence[tuple[int, str]], decisive: Collection[str]
) -> Iterator[Command]:
    """`decisive`: an option without which nothing is a deployment."""
    for start, text in texts:
        state.budget.work(len(text) // 4, "options in variables")
        values = dict(_values(state, start, text))
        if len(values) < _FEW:
            continue
        named = {PROGRAM_OF[name] for name in MENTION.findall(text.casefold()) if name in PROGRAM_OF}
        by_program = {program: _options(values, program) for program in serving_programs() if program in named}
        if not by_program or _TRAINS.search(text):
            continue
        program = max(by_program, key=lambda each: len(_flags(by_program[each])))
        words, flags = by_program[program], _flags(by_program[program])
        launched = _is_launcher(text)
        whole = len(flags) >= _FEWEST and bool(flags & {*decisive})
        if not whole and not _is_layout(flags, program):
            continue
        rest = (
            ()
            if whole and not launched
            else (more(_OF_LAUNCHER if launched else "<what reads the variables adds>", words[0].line),)
        )
        yield replace(fragment([*words, *rest], state, ""), program=program, env=_other(values, program), guessed=True)


def _is_launcher(text: str) -> bool:
    """Whether they are the defaults of a script, `TP="${TP:-1}"`, whose own line that uses them is not shown: what is
    not exported reaches no other program."""
    own = [match for match in islice(_SET.finditer(text), _MOST) if _is_default(match)]
    if not own or _HANDED_ON.search(text):
        return False
    return not any(match[0].lstrip().startswith(("export", ":")) for match in own)


def _is_default(match: re.Match[str]) -> bool:
    default = _DEFAULT.fullmatch(match["value"])
    return default is not None and default["name"] == match["name"]


def _values(state: ScriptState, start: int, text: str) -> Iterator[tuple[str, Word]]:
    for match in islice(_SET.finditer(text), _MOST):
        default = _DEFAULT.fullmatch(match["value"])
        value = default["value"] if default is not None and default["name"] == match["name"] else match["value"]
        if value and "$" not in value and "`" not in value:
            yield match["name"], state.text.word(value, start + match.start("name"), start + match.end())


def _options(values: dict[str, Word], program: str) -> list[Word]:
    return [word for name, value in values.items() for word in as_option(name, value, program)]


def _other(values: dict[str, Word], program: str) -> dict[str, Word]:
    """Those that are no options, which the engine may read itself."""
    return {
        name: replace(value, text=f"{name}={value.text}", pieces=())
        for name, value in values.items()
        if not as_option(name, value, program)
    }


def _is_layout(flags: Collection[str], program: str) -> bool:
    """Whether they are a model and the sizes of more than one kind of parallelism."""
    options = serving_programs()[program].options
    sizes = {options[name] for name in SIZES if name in options} & {*flags}
    return len(sizes) > 1 and not {"--model", "--model-path"}.isdisjoint(flags)


def _flags(words: Sequence[Word]) -> set[str]:
    return {word.text for word in words if word.text.startswith("-")}
