"""The commands of a deployment as lines to type: as they were written, and mended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Command, Word
from moonpad.explain.programs import program_named
from moonpad.explain.results import Edit, Line, Remark, mended

_SETS_ENV: Final = frozenset({"-e", "--env", "-x"})
_CONTAINERS: Final = frozenset({"docker run", "docker exec"})


def mended_line(command: Command, remarks: Sequence[Remark], edits: Sequence[Edit] = ()) -> Line:
    """With what the remarks say of it, and with more edits, which go first."""
    edits = [*edits, *(edit for remark in remarks for edit in remark.edits)]
    dropped = {remark.variable for remark in remarks if remark.drop_variable}
    program = next((remark.program for remark in remarks if remark.program), ())
    around, own = _around(command)
    places = {(word.line, word.column) for word in around}
    inside = any(wrapper.kind in _CONTAINERS for wrapper in command.wrappers) and bool(around)
    env = {
        name: word.text.removeprefix(f"{name}=")
        for name, word in command.env.items()
        if name not in dropped and not inside and (word.line, word.column) not in places
    }
    around = _without(around, [word for name, word in command.env.items() if name in dropped])
    images = [wrapper.image for wrapper in command.wrappers if wrapper.image is not None]
    front = (*(word.text for word in around), *(program or (word.text for word in own)))
    return Line(
        env,
        (*front, *mended([word.text for word in command.argv], edits)),
        frozenset(command.unresolved) | {name for word in command.prefix for name in word.unresolved},
        frozenset({len(around), *(at for at, word in enumerate(around) if word in images)}),
    )


def program_words(command: Command) -> tuple[str, ...]:
    """The words that name the program, without what is wrapped around it."""
    return tuple(word.text for word in _around(command)[1])


def _around(command: Command) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """What is wrapped around the program on the same line, and the words that name the program.

    A shell inside (`bash -c '…'`, `ssh`) has lines of its own: what is around it is left out.
    """
    for first in range(len(command.wrappers) + 1):
        words = tuple(word for wrapper in command.wrappers[first:] for word in wrapper.words)
        if command.prefix[: len(words)] == words:
            around, own = words, command.prefix[len(words) :]
            break
    if not own and not command.wrappers:
        # Flags that were written without their program.
        program = program_named(command.program)
        start = program.start if program and program.start else command.program
        return (), tuple(Word(text) for text in start.split())
    return (around if first == 0 else ()), own


def _without(words: Sequence[Word], dropped: Sequence[Word]) -> tuple[Word, ...]:
    """The words less those that set one of these variables, `-e NAME=value`."""
    places = {(word.line, word.column) for word in dropped}
    remaining: list[Word] = []
    for word in words:
        if word.line and (word.line, word.column) in places:
            if remaining and remaining[-1].text in _SETS_ENV:
                remaining.pop()
            continue
        remaining.append(word)
    return tuple(remaining)
