"""Options in backticks with a program's name beside them: `started with `-m kimi.gguf --jinja` on llama-server`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.explain.commands import Command
from moonpad.explain.programs import program_named, program_table
from moonpad.explain.shell.interpreter import ScriptState, words_of
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_CODE: Final = re.compile(r"`(?P<code>--?[A-Za-z][^`\n]{10,2000})`")
_MODEL: Final = frozenset({"-m", "--model", "--model-path", "-hf", "--hf-repo", "--model_path"})
_ENOUGH: Final = 4
"""Flags that a server has of those that stand alone."""
_NEAR: Final = 80
"""Characters beside the options in which the program is named."""


def quoted_options(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    """A command of the program for each, where the options name a model."""
    for start, text in texts:
        state.budget.work(len(text) // 8, "options in a sentence")
        for match in _CODE.finditer(text):
            words = words_of(Source.block(state.text, start + match.start("code"), match["code"]), state)
            flags = [word.text.partition("=")[0] for word in words if word.text.startswith("-")]
            program = _named_beside(text, match) or _known_best(flags)
            if not program or len(flags) < 2 or not _MODEL & {*flags}:
                continue
            named = program_named(program)
            start_words = ((named.start if named else "") or program).split()
            prefix = tuple(replace(words[0], text=word, pieces=(), unresolved=()) for word in start_words)
            yield Command(program, tuple(words), prefix, {}, heading=state.heading, line=words[0].line)


def _known_best(flags: Sequence[str]) -> str:
    """The server that has most of these flags, "" where none has enough or several have as many."""
    known = {
        name: sum(options.named(flag) is not None for flag in flags)
        for name, program in program_table().programs.items()
        if program.kind == "server" and program.commands and (options := option_set(name)) is not None
    }
    best = max(known.values(), default=0)
    names = [name for name, count in known.items() if count == best]
    return names[0] if best >= _ENOUGH and len(names) == 1 else ""


def _named_beside(text: str, match: re.Match[str]) -> str:
    """The server whose program the same sentence names, "" where it names none or several."""
    line_start, line_end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    before = text[max(line_start, match.start() - _NEAR) : match.start()]
    behind = text[match.end() : min(line_end if line_end >= 0 else len(text), match.end() + _NEAR)]
    around = f"{before} {behind}"
    found = {
        name
        for words, name in program_table().commands.items()
        if " ".join(words) in around
        and re.search(rf"(?<![\w/.-]){re.escape(' '.join(words))}(?![\w-])", around)
        and (program := program_named(name)) is not None
        and program.kind == "server"
    }
    return found.pop() if len(found) == 1 else ""
