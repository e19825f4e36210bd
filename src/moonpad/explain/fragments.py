"""Flags without a program, as documents list them: which engine's they are, and on how many devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.argv import parse
from moonpad.engines.grammar import Grammar
from moonpad.explain.commands import Command, Word
from moonpad.explain.spelling import FLAGS, names_option

_CANDIDATES: Final = ("vllm serve", "sglang", "trtllm-serve")
_ENGINES: Final = {"vllm serve": "vllm", "sglang": "sglang", "trtllm-serve": "tensorrt-llm"}
_LAYOUT: Final = ("tp", "pp", "dp", "ep", "dcp")


def as_commands(commands: Sequence[Command]) -> tuple[Command, ...]:
    """Fragments become commands of the program that knows most of their flags; the others stay as they are.

    A list of flags that says nothing of the layout has that of the list or command of the same program above it: a
    guide tells what it changes.
    """
    found: list[Command] = []
    layouts: dict[str, tuple[Word, ...]] = {}
    for command in commands:
        whole = _with_program(command) if command.program == "fragment" else command
        if whole.program in _ENGINES:
            own = _layout_words(whole)
            if own:
                layouts[whole.program] = own
            elif whole is not command:
                whole = replace(whole, argv=(*whole.argv, *layouts.get(whole.program, ())))
        found.append(whole)
    return tuple(found)


def is_fragment(command: Command) -> bool:
    """Whether it was written without a program."""
    return not command.prefix and not command.wrappers


def borrowed(command: Command) -> tuple[Word, ...]:
    """The words that `as_commands` took from above."""
    return tuple(word for word in command.argv if word.line < command.line) if is_fragment(command) else ()


def _with_program(command: Command) -> Command:
    flags = [word.text.partition("=")[0] for word in command.argv if word.text.startswith("--")]
    best, most = "", 0
    for program in _CANDIDATES:
        options = option_set(program, None)
        known = sum(options is not None and options.named(flag) is not None for flag in flags)
        if known > most:
            best, most = program, known
    return replace(command, program=best) if best else command


def _layout_words(command: Command) -> tuple[Word, ...]:
    options = option_set(command.program)
    if options is None:
        return ()
    spelled = FLAGS[_ENGINES[command.program]]
    named = [spelled[name] for name in _LAYOUT if name in spelled]
    parsed = parse([word.text for word in command.argv], Grammar(options))
    mine = [one for one in parsed.occurrences if any(names_option(one, flag) for flag in named)]
    return tuple(word for one in mine for word in command.argv[one.index : one.index + one.length])
