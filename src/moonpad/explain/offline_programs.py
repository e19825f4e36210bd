"""Programs of an engine that load a model, measure it and end: they take the options of its server beside their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.offline_names import OFFLINE, Offline
from moonpad.explain.commands import Command, Word
from moonpad.explain.programs import base_name
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.values.records import replace

_FARTHEST: Final = 12
"""Words before the program's name: interpreters, profilers, `mpirun -n 8`."""


def offline_programs(state: ScriptState) -> Iterator[Command]:
    """As commands of the server, that listens nowhere."""
    for command in state.commands:
        words = [*command.prefix, *command.argv]
        if command.program not in ("other", "docker") or (found := _found(words)) is None:
            continue
        offline, behind = found
        argv = tuple(_as_server(words[behind:], offline))
        if argv:
            argv = (*argv, *(replace(words[behind - 1], text=text) for text in offline.always))
            yield replace(
                command,
                program=offline.server,
                prefix=tuple(words[:behind]),
                argv=argv,
                embedded=True,
                line=words[0].line,
            )


def _found(words: Sequence[Word]) -> tuple[Offline, int] | None:
    """The program, and the place behind its name."""
    for offline in OFFLINE:
        names = offline.command.split()
        for at in range(min(len(words) - len(names), _FARTHEST) + 1):
            given = [base_name(words[at]), *(word.text for word in words[at + 1 : at + len(names)])]
            if given == names:
                return offline, at + len(names)
    return None


def _as_server(words: Sequence[Word], offline: Offline) -> Iterator[Word]:
    """Without what is for the measuring alone, and with the server's names."""
    mine = False
    for word in words:
        flag, equals, value = word.text.partition("=")
        if word.text.startswith("-") and not word.text[1:2].isdigit():
            mine = flag in offline.own
            if mine:
                continue
            name = offline.renamed.get(flag, flag)
            if name == flag:
                yield word
            elif text := f"{name}{equals}{value}" if name else value:
                yield replace(word, text=text)
        elif not mine and word.text not in offline.subcommands:
            yield word
