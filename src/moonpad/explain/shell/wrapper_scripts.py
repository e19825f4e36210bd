"""Scripts that are not at hand and start an engine by variables: `MODEL=m TP=8 MAX_MODEL_LEN=65536 ./vllm-serve.sh`."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.foreign_names import PROGRAM_OF
from moonpad.explain.commands import Command, Word
from moonpad.explain.flag_lists import serving_programs
from moonpad.explain.option_names import as_option
from moonpad.explain.programs import base_name
from moonpad.explain.shell.interpreter import ScriptState, words_of
from moonpad.explain.source_text import Source
from moonpad.explain.word_lists import more
from moonpad.values.records import replace

_MORE: Final = re.compile(r"(?:[A-Z]+_){0,4}(?:ARGS|FLAGS|OPTIONS|OPTS)")
_TO_FILL_IN: Final = re.compile(r"<[a-z][\w -]{2,60}>", re.IGNORECASE)
_FARTHEST: Final = 4
"""Words that are looked through for the script's name."""


def with_started_scripts(state: ScriptState) -> list[Command]:
    """In the place of each such command the options that its variables stand for."""
    given = [(command, _by_variables(command, state)) for command in state.commands]
    forms = [made for _, made in given if made is not None and _is_form(made)]
    filled = {script_of(command) for command, made in given if made is not None and made not in forms}
    if not filled:
        return [made or command for command, made in given]
    for command, made in given:
        if made is not None and made in forms and script_of(command) in filled:
            _say_form(command, state)
    return [
        command if made is not None and made in forms and script_of(command) in filled else made or command
        for command, made in given
    ]


def _is_form(command: Command) -> bool:
    """Whether it only tells what can be set: `MODEL=<id> TP=<gpus> ./serve.sh`."""
    values = [word for word in command.argv if not word.text.startswith("-")]
    return sum(_TO_FILL_IN.fullmatch(word.text) is not None for word in values) > 1


def _say_form(command: Command, state: ScriptState) -> None:
    for variable, word in command.env.items():
        value = word.text.removeprefix(f"{variable}=")
        if _TO_FILL_IN.fullmatch(value) and word.pieces:
            message = f"{value} is a placeholder, and a shell takes < as a redirection"
            first, last = word.pieces[0].source_start, word.pieces[-1].source_end
            state.problems.add("placeholder", first, last, message, "write the value")
            return


def script_of(command: Command) -> str:
    """The script that it runs, "" where it runs none."""
    names = (base_name(word) for word in command.words[:_FARTHEST])
    return next((name for name in names if name.endswith(".sh")), "")


def _by_variables(command: Command, state: ScriptState) -> Command | None:
    name = script_of(command) if command.program == "other" and command.env else ""
    program = next((PROGRAM_OF[engine] for engine in PROGRAM_OF if engine in name.casefold()), "")
    if not name or not program or program not in serving_programs():
        return None
    words: list[Word] = []
    left: dict[str, Word] = {}
    for variable, value in command.env.items():
        if _MORE.fullmatch(variable) and "--" in value.text and not value.unresolved:
            text = replace(value, text=value.text.removeprefix(f"{variable}="))
            words += words_of(Source(text.text, state.text, text.pieces), state)
        elif not variable.startswith("HF_") and (option := as_option(variable, value, program)):
            words += option
        else:
            left[variable] = value
    line = serving_programs()[program]
    sizes = {line.options[size] for size in ("tp", "pp", "dp") if size in line.options}
    if not sizes & {word.text for word in words}:
        return None
    rest = more(f"<what {name} adds>", command.line)
    return replace(command, program=program, prefix=(), argv=(*words, rest), env=left, guessed=True)
