"""`vllm serve moonshotai/Kimi-K2-Thinking` in a sentence or a list of Python: a whole start, without an option."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from moonpad.engines.start_names import MODEL_FIRST
from moonpad.explain.commands import Command, Word
from moonpad.explain.programs import base_name, program_table
from moonpad.explain.shell.cut_commands import LEFT_OUT
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.shell.wrappers import SPEAKS_OF
from moonpad.explain.source_text import Source
from moonpad.explain.word_lists import more
from moonpad.values.records import replace

_MODEL: Final = r"[A-Za-z0-9][\w.-]{1,95}/[A-Za-z0-9](?:[\w.-]{0,94}\w)?"
"""A repository on a hub: `moonshotai/Kimi-K2.5`."""
_START: Final = re.compile(rf"(?<![\w./-]){MODEL_FIRST}[ \t]+{_MODEL}(?![\w/:@=-])", re.ASCII)
"""Of the programs that take the model as their first argument."""
_REPOSITORY: Final = re.compile(_MODEL, re.ASCII)
_SPOKEN_OF: Final = re.compile(
    r"\b(?:not|never|instead of|rather than|unlike|from|replac(?:e|es|ed|ing)|another|other)\b[^.\n]{0,30}$"
    r"|不要|别用|而不是|@@",
    re.IGNORECASE,
)
_LAYOUT: Final = re.compile(
    r"\b(?:[TDEP]P[ =-]?\d|tensor[- _]?parallel|data[- _]?parallel|expert[- _]?parallel)|并行", re.IGNORECASE
)
"""The text says more of the layout than its command."""
_CUT: Final = re.compile(r"[ \t\0]*(?:\\[ \t\0]*\n[ \t\0]*)?(?:--?[A-Za-z][\w-]*)?[\[(]?(?:\.{3}|…)")
"""Behind one that the text cuts short: ` …`, ` --served-mode…`."""
_MOST: Final = 40


def bare_starts(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    """Of texts with their offsets, each start once; none that a sentence only sets against another."""
    seen: set[str] = set()
    programs = program_table().programs
    if any(command.program in programs for command in state.commands if command.argv):
        return  # a client that names the server which it asks
    for start, text in texts:
        has_layout = _LAYOUT.search(text) is not None
        for match in islice(_START.finditer(text), _MOST):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            first = line.split()[:1]
            if match[0] in seen or _SPOKEN_OF.search(line) or (first and base_name(Word(first[0])) in SPEAKS_OF):
                continue
            seen.add(match[0])
            before = len(state.commands)
            Shell(state, Source.block(state.text, start + match.start(), match[0])).read()
            made = state.commands[before:]
            del state.commands[before:]
            for command in made:
                if is_bare_start(command):
                    is_cut = _CUT.match(text, match.end()) is not None
                    rest = (more("<what the text says>", command.line),) if has_layout and not is_cut else ()
                    yield replace(command, argv=(*command.argv, *rest), more=LEFT_OUT if is_cut else command.more)


def is_bare_start(command: Command) -> bool:
    """Whether the model is all that it is given, by the name of a repository."""
    given = [word.text for word in command.argv]
    return len(given) == 1 and _REPOSITORY.fullmatch(given[0]) is not None


def is_only_a_start(text: str) -> bool:
    """Whether there is nothing else in it."""
    return _START.fullmatch(text.strip()) is not None
