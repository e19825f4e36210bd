"""Programs of an engine that chat in a terminal: they load the same files with the same options as its server."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.chat_names import CHAT_MODELS, CHAT_SERVER, CHATS, CHATS_BY_PLACE
from moonpad.explain.commands import Command, Word
from moonpad.explain.programs import base_name
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.values.records import replace

_SCHEME: Final = re.compile(r"^(?:modelscope|ms|hf|huggingface|file)://")


def chat_programs(state: ScriptState) -> Iterator[Command]:
    """Those that load a model, as commands of the server that listens nowhere."""
    for command in state.commands:
        if (at := _place(command)) is not None:
            words = [*command.prefix, *command.argv]
            name = base_name(words[at])
            argv, own_words = _as_server(words[at + 1 :], name)
            if any(word.text.partition("=")[0] in CHAT_MODELS for word in argv):
                prefix = tuple(words[: at + 1])
                read = replace(command, program=CHAT_SERVER, prefix=prefix, argv=argv, embedded=True)
                yield replace(read, own_words=own_words)


def chats(command: Command) -> bool:
    """Whether it starts such a program with options, and was not yet read as the server's."""
    return (at := _place(command)) is not None and len(command.prefix) + len(command.argv) > at + 1


def _place(command: Command) -> int | None:
    """Where its words name such a program."""
    if command.program not in ("other", "docker"):
        return None
    words = [*command.prefix[:8], *command.argv[:8]][:8]
    return next((at for at, word in enumerate(words) if base_name(word) in CHATS), None)


def is_chat(command: Command) -> bool:
    """Whether it serves one person in a terminal."""
    return command.embedded and any(base_name(word) in CHATS for word in command.prefix[-1:])


def _as_server(words: list[Word], name: str) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The options that the server has too, under its names, with their values; and the other words."""
    options, own, has_model = option_set(CHAT_SERVER), CHATS[name], name not in CHATS_BY_PLACE
    shared: list[Word] = []
    own_words: list[Word] = []
    rest = deque(words)
    while rest:
        word = rest.popleft()
        flag, equals, value = word.text.partition("=")
        if not word.text.startswith("-"):
            if not has_model and (at := _SCHEME.sub("", word.text)):
                has_model = True
                shared += (replace(word, text="--model", pieces=()), replace(word, text=at, pieces=()))
            else:
                own_words.append(word)
            continue
        flag = own.get(flag, flag)
        option = options.named(flag) if options is not None else None
        if option is None:
            own_words.append(word)
            continue
        renamed = flag != word.text.partition("=")[0]
        shared.append(replace(word, text=f"{flag}{equals}{value}", pieces=()) if renamed else word)
        if option.kind != "flag" and not equals and rest and options is not None and not options.named(rest[0].text):
            shared.append(rest.popleft())
    return tuple(shared), tuple(own_words)
