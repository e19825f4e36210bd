"""Which values of a Python program are commands of engines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines.foreign_names import MENTION
from moonpad.explain.bare_starts import is_bare_start, is_only_a_start
from moonpad.explain.commands import Word, cut
from moonpad.explain.programs import is_server, starts_with_options
from moonpad.explain.prose_commands import is_prose
from moonpad.explain.python.data import Listing, Table, Text
from moonpad.explain.python.docker_calls import read_docker_call
from moonpad.explain.python.engines import EngineOptions
from moonpad.explain.shell.interpreter import Shell
from moonpad.explain.shell.one_item import apart
from moonpad.explain.shell.scope import Scope
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_FENCE: Final = re.compile(
    r"^[ \t]*```[ \t]*(?P<language>[^\s`]*)[^\n`]*\n(?P<code>(?:(?![ \t]*```).*\n)*)[ \t]*```", re.MULTILINE
)
_OF_SHELL: Final = frozenset({"", "bash", "sh", "shell", "console", "zsh", "text"})

_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n.*[A-Za-z]'[a-z]{0,2}(?![\w'])", re.DOTALL)
"""An apostrophe in a text of several paragraphs."""


def emit(value: Text | Listing | Table, options: EngineOptions, environment: Mapping[str, Word], whole: Source) -> None:
    """A list of words is a command, a text with an engine's name is read as by a shell, a table may hold options."""
    state = options.state
    if isinstance(value, Table):
        if not read_docker_call(value, whole, state, environment):
            options.read(value)
        return
    scope = Scope({**environment, **value.environment})
    commands_before, problems_before = len(state.commands), len(state.problems.items)
    arms = list(state.arms)
    if isinstance(value, Listing):
        words = _command_words(value)
        if value.used or not words or value.in_shell:
            return
        state.arms[:] = value.arms
        Shell(state, whole, scope).command([part for word in words for part in apart(word, state)])
    elif not value.in_shell and (value.used or any(_stands_for_itself(source) for source in value.sources)):
        return
    elif MENTION.search(value.word.text) and " " in value.word.text.strip():
        for part in _code(value.word):
            Shell(state, Source.inside(part, state.text), scope).read()
    state.arms[:] = arms
    shown = isinstance(value, Text) and not value.in_shell
    lone = isinstance(value, Listing) or (isinstance(value, Text) and is_only_a_start(value.word.text))
    made = [
        command
        for command in state.commands[commands_before:]
        if starts_with_options(command) or (lone and is_server(command.program) and is_bare_start(command))
    ]
    state.commands[commands_before:] = [command for command in made if not (shown and is_prose(command))]
    if len(state.commands) == commands_before:
        del state.problems.items[problems_before:]
    elif isinstance(value, Text) and shown and _PARAGRAPH.search(value.word.text):
        # Sentences around the command, whose apostrophes no shell reads.
        about = state.problems.items[problems_before:]
        state.problems.items[problems_before:] = [problem for problem in about if problem.code != "unclosed"]


def _code(word: Word) -> Iterator[Word]:
    """What a shell may read of a text: in Markdown its fences."""
    inside = list(fences(word))
    yield from inside or [word]


def fences(word: Word) -> Iterator[Word]:
    """The blocks of a Markdown text that are a shell's."""
    blocks = (fence for fence in _FENCE.finditer(word.text) if fence["code"] and fence["language"] in _OF_SHELL)
    return (cut(word, block.start("code"), block.end("code")) for block in blocks)


def _stands_for_itself(source: Listing | Text) -> bool:
    """Then a text that is made of it only shows it."""
    return source.in_shell or (isinstance(source, Listing) and bool(_command_words(source)))


def _command_words(listing: Listing) -> list[Word]:
    """Empty where it is no command of an engine: none of its words names one."""
    words: list[Word] = []
    mentions = False
    for item in listing.items:
        if isinstance(item, Text):
            words.append(item.word)
            mentions |= bool(MENTION.search(item.word.text)) and " " not in item.word.text.strip()
        elif isinstance(item, Listing | Table):
            return []
    words = _known_names(words)
    if mentions and words[0].text == "-m":  # the interpreter is added where it is started
        words.insert(0, replace(words[0], text="python", pieces=()))
    return words if mentions else []


def _known_names(words: list[Word]) -> list[Word]:
    """An option whose name is not known may be any: `f"--{name}"` with its value."""
    result: list[Word] = []
    open_name = False
    for word in words:
        if open_name and not word.text.startswith("-"):
            open_name = False
            continue
        open_name = bool(word.unresolved) and word.text.startswith("-") and "${" in word.text.partition("=")[0]
        result.append(replace(word, text=f"${{{word.unresolved[0]}}}") if open_name else word)
        open_name &= "=" not in word.text
    return result
