"""What a log says of a start whose arguments it does not have: the model that its workers load, and their ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.log_engine import LOADED, RANKED
from moonpad.explain.commands import Command
from moonpad.explain.flag_lists import serving_programs
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.word_lists import more
from moonpad.values.records import replace

_LONGEST: Final = 400
_MOST: Final = 1024
_LACKS: Final = "<the options that the log lacks>"


def logged_loads(state: ScriptState) -> Iterator[Command]:
    """The command of the one model that is loaded; none where a log has loaded several."""
    text = state.text.clean
    if not any(mark in text for _, marks, _ in LOADED for mark in marks):
        return
    lines = text.split("\n")
    state.budget.work(len(lines), "its logs")
    places: dict[tuple[str, str], tuple[int, int]] = {}
    for number, line in enumerate(lines):
        for program, marks, pattern in LOADED:
            if any(mark in line for mark in marks) and (match := pattern.search(line[:_LONGEST])):
                places.setdefault((program, match["model"]), (number, match.start("model")))
    if len(places) != 1:
        return
    (program, model), (number, column) = next(iter(places.items()))
    options = serving_programs()[program]
    begin = state.text.offset(number) + column
    word = state.text.word(model, begin, begin + len(model))
    words = [*((replace(word, text=options.model, pieces=()),) if options.model else ()), word]
    for name, size in _sizes(lines).items():
        if flag := options.options.get(name):
            words += (replace(word, text=each, pieces=()) for each in (flag, str(size)))
    yield Command(program, (*words, more(_LACKS, word.line)), (), {}, line=word.line, guessed=True)


def _sizes(lines: list[str]) -> dict[str, int]:
    """By the highest rank of each kind, where they make up all the processes that there are."""
    worlds: set[int] = set()
    sizes = {"tp": 1, "pp": 1, "dp": 1}
    for line in lines:
        if (match := RANKED.search(line[:_LONGEST])) is not None:
            worlds.add(int(match["world"]))
            sizes = {name: max(size, int(match[name]) + 1) for name, size in sizes.items()}
    whole = sizes["tp"] * sizes["pp"] * sizes["dp"]
    return sizes if worlds == {whole} and whole <= _MOST else {}
